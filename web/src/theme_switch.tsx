// Light, dark, or as the system has it.
import { useState } from "preact/hooks";

const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

export function ThemeSwitch() {
    const [theme, setTheme] = useState<Theme>("auto");
    const choose = (chosen: Theme) => {
        setTheme(chosen);
        document.documentElement.dataset.theme = chosen;
        window.dispatchEvent(new Event("themechange"));
    };
    return (
        <label class="theme">
            <span class="hidden">Colours</span>
            <select value={theme} onChange={(e) => choose(e.currentTarget.value as Theme)}>
                {themes.map((t) => (
                    <option key={t} value={t}>
                        {{ auto: "Auto", light: "Light", dark: "Dark" }[t]}
                    </option>
                ))}
            </select>
        </label>
    );
}
