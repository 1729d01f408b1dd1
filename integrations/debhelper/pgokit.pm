# The debhelper sequence of pgokit: compilers get the profiles in debian/pgokit, and dh_pgokit
# says before dh_dwz, as it reads debug information, how well these still fit. "dh_pgokit --help" and its manual page have more.
use strict;
use warnings;
use Cwd qw(getcwd);
use Debian::Debhelper::Dh_Lib;

# By the compiler of the build, which debian/rules may name by exporting CC.
sub pgokit_compiler {
	return $ENV{CC} if defined $ENV{CC} && length $ENV{CC};
	return is_cross_compiling() ? dpkg_architecture_value('DEB_HOST_GNU_TYPE') . '-gcc' : 'gcc';
}

# The flags, and the copy of the profiles that they name, which dh_clean removes.
sub pgokit_flags {
	my @profiles = @_;
	my $folder = 'debian/.debhelper/pgokit';
	mkdirs($folder);
	my @command = ('pgokit', 'pgo', '--flags', '--cc', pgokit_compiler(),
		'-o', getcwd() . "/$folder/profile", map { ('--use', $_) } @profiles);
	open(my $pipe, '-|', @command) or error("cannot run pgokit: $!");
	my $flags = <$pipe>;
	close($pipe) && defined $flags
		or error("pgokit cannot make the profiles of debian/pgokit fit the compiler");
	chomp $flags;
	return $flags;
}

# dh has set CFLAGS by now; commands that ask dpkg-buildflags again get the flags, too.
sub pgokit_append {
	my ($flags, @names) = @_;
	for my $name (@names) {
		my $was = $ENV{$name} // '';
		next if index($was, $flags) >= 0; # of a dh that runs this one
		$ENV{$name} = length $was ? "$was $flags" : $flags;
	}
	return;
}

my @pgokit_profiles = glob 'debian/pgokit/*.afdo';
my $pgokit_cleans = grep { $_ eq 'clean' } @ARGV;
if (@pgokit_profiles && !$pgokit_cleans && !get_buildoption('nopgo')) {
	my $flags = pgokit_flags(@pgokit_profiles);
	pgokit_append($flags, grep({ exists $ENV{$_} } qw(CFLAGS CXXFLAGS)),
		qw(DEB_CFLAGS_APPEND DEB_CXXFLAGS_APPEND));
}

insert_before('dh_dwz', 'dh_pgokit');

1;
