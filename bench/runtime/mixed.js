// A bit of everything that scripts do; ROUNDS and SIZE are set by train.js or measure.js.
function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.plus = function (p) { return new Point(this.x + p.x, this.y + p.y); };

function objects(n) {
    var sum = new Point(0, 0), step = new Point(1, 2);
    for (var i = 0; i < n; i++) sum = sum.plus(step);
    return sum.x + sum.y;
}

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function primes(n) {
    var crossed = [], count = 0;
    for (var i = 2; i <= n; i++) {
        if (crossed[i]) continue;
        count++;
        for (var j = i * 2; j <= n; j += i) crossed[j] = true;
    }
    return count;
}

function strings(n) {
    var parts = [];
    for (var i = 0; i < n; i++) parts.push('k' + i % 97 + ':' + i.toString(16));
    return parts.join(',').split(',').map(function (s) { return s.toUpperCase(); })
        .filter(function (s) { return s.indexOf('A') >= 0; }).length;
}

function sorted(n) {
    var x = 42, list = [];
    for (var i = 0; i < n; i++) list.push(x = (x * 1103515245 + 12345) % 2147483648);
    list.sort(function (a, b) { return a - b; });
    return list[n >> 1];
}

function json(n) {
    var list = [];
    for (var i = 0; i < n; i++) list.push({id: i, name: 'n' + i, list: [i, i + 1, i * 0.5]});
    return JSON.parse(JSON.stringify(list)).length;
}

function patterns(n) {
    var text = '';
    for (var i = 0; i < n; i++) text += 'ab' + i + ' cd' + i * 7 + '; ';
    return text.match(/[a-z]+(\d+)/g).length + text.replace(/\d+/g, '#').length;
}

function maps(n) {
    var map = {}, sum = 0;
    for (var i = 0; i < n; i++) map['key' + i * 31 % 1009] = i;
    for (var key in map) sum += map[key];
    return sum;
}

for (var round = 0; round < ROUNDS; round++)
    print(objects(SIZE * 60), fib(10 + (SIZE / 40 | 0)), primes(SIZE * 60), strings(SIZE * 15),
          sorted(SIZE * 12), json(SIZE * 3), patterns(SIZE * 3), maps(SIZE * 40));
