// Numbers of pairs of numbers, given in the order in which the pairs come.

const FIRST = 1024;

/** A Map with one number for both takes four times as long: most of them are no small integers. */
export class PairIndex {
    n = 0;
    a: Int32Array = new Int32Array(FIRST);
    b: Int32Array = new Int32Array(FIRST);
    private slots: Int32Array = new Int32Array(2 * FIRST); // number + 1; 0: free

    /** The number of a pair, which is n before the call if the pair is new. */
    number(a: number, b: number): number {
        let at = this.slot(a, b);
        for (let found; (found = this.slots[at]!) !== 0; at = (at + 1) & (this.slots.length - 1))
            if (this.a[found - 1] === a && this.b[found - 1] === b) return found - 1;
        if (this.n === this.a.length) {
            this.grow();
            at = this.free(a, b);
        }
        this.a[this.n] = a;
        this.b[this.n] = b;
        this.slots[at] = ++this.n;
        return this.n - 1;
    }

    private slot(a: number, b: number): number {
        const mixed = Math.imul(Math.imul(a, 0x9e3779b1) ^ b, 0x85ebca6b);
        return (mixed ^ (mixed >>> 15)) & (this.slots.length - 1);
    }

    private free(a: number, b: number): number {
        let at = this.slot(a, b);
        while (this.slots[at]) at = (at + 1) & (this.slots.length - 1);
        return at;
    }

    private grow(): void {
        const wider = (old: Int32Array) => {
            const wide = new Int32Array(2 * old.length);
            wide.set(old);
            return wide;
        };
        this.a = wider(this.a);
        this.b = wider(this.b);
        this.slots = new Int32Array(2 * this.slots.length);
        for (let i = 0; i < this.n; i++) this.slots[this.free(this.a[i]!, this.b[i]!)] = i + 1;
    }
}
