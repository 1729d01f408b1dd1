// Shows files in DHAT's viewer, without a browser: prints the text of its page.
//
// usage: node dhat_in_node.js DH_VIEW_JS FILE
"use strict";
const fs = require("fs");
const vm = require("vm");

// As much of a document as the viewer uses.
class Node {
    constructor(text) {
        this.childNodes = [];
        this.text = text;
        this.className = "";
        this.selectedIndex = 0;
        this.classList = { add() {}, remove() {}, toggle() {}, contains: () => true };
    }
    appendChild(child) {
        child.parentNode = this;
        this.childNodes.push(child);
        return child;
    }
    cloneNode() {
        return new Node();
    }
    replaceChild(now, old) {
        now.parentNode = this;
        this.childNodes[this.childNodes.indexOf(old)] = now;
    }
    addEventListener() {}
    set textContent(text) {
        this.childNodes = [new Node(text)];
    }
    get textContent() {
        return this.text ?? this.childNodes.map((child) => child.textContent).join("");
    }
}

const context = vm.createContext({
    document: {
        title: "",
        location: { search: "" },
        body: new Node(),
        createElement: () => new Node(),
        createTextNode: (text) => new Node(text),
    },
    performance: { now: () => 0 },
    URLSearchParams,
    console,
    text: fs.readFileSync(process.argv[3], "utf8"),
});
vm.runInContext(fs.readFileSync(process.argv[2], "utf8"), context);
vm.runInContext("onLoad(); gFilename = 'file'; gData = JSON.parse(text); buildTree(); " +
                "displayTree();", context);
process.stdout.write(vm.runInContext("gMainDiv.textContent", context));
