// A program for reports of coverage: some of its functions and branches run.
use std::collections::HashMap;

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        String::from("shape")
    }
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        if self.0 > 2.0 { 3.14 * self.0 * self.0 } else { 0.0 }
    }
    fn name(&self) -> String {
        "circle".into()
    }
}

fn unused(a: i32) -> i32 {
    if a > 3 { 1 } else { 2 }
}

fn fibonacci(n: u32) -> u64 {
    match n {
        0 => 0,
        1 => 1,
        _ => fibonacci(n - 1) + fibonacci(n - 2),
    }
}

fn main() {
    let n: u32 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(10);
    let mut areas: HashMap<String, f64> = HashMap::new();
    for i in 0..n {
        let shape: Box<dyn Shape> =
            if i % 2 == 0 { Box::new(Square(i.into())) } else { Box::new(Circle(i.into())) };
        *areas.entry(shape.name()).or_insert(0.0) += shape.area();
    }
    let odd: Vec<u64> = (0..n).map(|i| fibonacci(i % 12)).filter(|f| f % 2 == 1).collect();
    println!("{} {}", areas.len(), odd.iter().sum::<u64>());
    if n > 1000 {
        println!("{}", unused(3));
    }
}
