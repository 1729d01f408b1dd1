// Starts the page: reads its data and shows the view for its kind of profile.
import { render } from "preact";
import type { PageData } from "./data";
import { readPage } from "./data";
import { GainReport } from "./gain_report";
import { HeapReport } from "./heap_report";
import { HistoryReport } from "./history_report";
import { SampleReport } from "./sample_report";

function viewOf(data: PageData) {
    switch (data.kind) {
        case "heap":
            return <HeapReport data={data} />;
        case "sample":
            return <SampleReport data={data} />;
        case "history":
            return <HistoryReport data={data} />;
        case "gain":
            return <GainReport data={data} />;
    }
}

async function start(): Promise<void> {
    const root = document.getElementById("app")!;
    try {
        const data = await readPage();
        document.title = `${data.title} – pgokit report`;
        render(viewOf(data), root);
        document.documentElement.dataset.ready = String(Math.round(performance.now()));
    } catch (error) {
        root.textContent = `This report cannot be shown: ${String(error)}`;
    }
}

void start();
