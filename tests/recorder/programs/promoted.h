// Shapes of several types, made in one module and called in another.
struct Shape {
    virtual ~Shape() {}
    virtual int area(int x) = 0;
    int width = 3;
};
struct Named {
    virtual ~Named() {}
    virtual int name(int x) = 0;
    int length = 5;
};
Shape *make_shape(int kind);
Named *make_named(int kind);
