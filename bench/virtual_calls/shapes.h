// Classes of several modules, which main.cpp calls the virtual functions of.
#ifndef SHAPES_H
#define SHAPES_H

struct Shape {
    virtual ~Shape() {}
    virtual unsigned area(unsigned x) const = 0;
    virtual unsigned edge(unsigned x) const { return x + width; }
    unsigned width = 3;
};

// Of kinds 0 to 7: of a module with classes of external linkage, with those of a template, and with
// those of an anonymous namespace.
Shape *make_plain(int kind);
Shape *make_of_template(int kind);
Shape *make_local(int kind);

#endif
