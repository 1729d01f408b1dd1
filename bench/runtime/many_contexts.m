% Many contexts and deep stacks: an interpreter in C++ over matrices, cells, strings and structs.
A = mod(reshape(1:62500, 250, 250) .^ 2, 97) + eye(250);
disp(sum(sum(round(inv(A) * 1000))));
c = cell(1, 3000);
for i = 1:3000
  c{i} = num2str(i);
end
disp(numel(strjoin(c, ',')));
s = struct();
for i = 1:500
  s.(sprintf('f%d', i)) = rand(3) > 2;
end
disp(numel(fieldnames(s)));
disp(numel(primes(200000)));
