/** Looks of the web part, in the host's own colours; a colour that a host does not name falls back to the text's. */

export const styles = `
.outrigger-line { position: relative; flex: none; height: 0; margin-bottom: calc(-1 * var(--dsh-composer-stack-gap, 0px)); }
.outrigger-row { position: absolute; left: 0; right: 0; bottom: 6px; box-sizing: border-box; display: flex; align-items: flex-end; gap: 8px;
  width: calc(100% - 2 * var(--dsh-composer-side-clearance, 0px)); max-width: var(--dsh-composer-card-max-width, none); margin: 0 auto; padding: 0 12px;
  pointer-events: none; }
.outrigger-slot { flex: 0 1 auto; min-width: 0; max-width: 75%; margin-left: auto; display: flex; }
.outrigger-chip { box-sizing: border-box; min-width: 0; max-width: 100%; padding: 0 8px; border-radius: 999px; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; font-size: 12px; line-height: 20px; color: var(--dsw-alias-label-secondary, inherit); background: var(--dsw-alias-bg-base, Canvas);
  pointer-events: auto; }
.outrigger-status { flex: 0 1 auto; }
.outrigger-info, .outrigger-warning, .outrigger-error { animation: outrigger-in .16s ease-out; color: var(--dsw-alias-label-secondary, inherit); }
.outrigger-warning, .outrigger-repl-names td.outrigger-repl-lost { color: color-mix(in srgb, var(--dsw-alias-state-warn-label, currentColor) 55%, var(--dsw-alias-label-primary, CanvasText)); }
.outrigger-error { color: var(--dsw-alias-state-error-primary, inherit); }
@keyframes outrigger-in { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { .outrigger-chip { animation: none } }

.outrigger-repl { position: relative; flex: 0 1 auto; min-width: 0; display: flex; pointer-events: auto; }
.outrigger-repl-chip { appearance: none; flex: 0 0 auto; border: 0; font: inherit; font-size: 12px; line-height: 20px; cursor: pointer; }
.outrigger-repl-chip:hover { color: var(--dsw-alias-label-primary, inherit); }
.outrigger-repl-chip:focus-visible { outline: 2px solid var(--dsw-alias-brand-primary, Highlight); outline-offset: 1px; }
.outrigger-repl-panel { position: absolute; right: 0; bottom: 28px; box-sizing: border-box; width: min(560px, 80vw); max-height: 45vh; overflow: auto; padding: 4px 14px 12px;
  border: 1px solid var(--dsw-alias-border-l2, GrayText); border-radius: 12px; background: var(--dsw-alias-bg-layer-3, Canvas); color: var(--dsw-alias-label-primary, inherit);
  box-shadow: 0 6px 24px rgb(0 0 0 / .16); z-index: 20; }
.outrigger-repl-names { width: 100%; margin-top: 8px; border-collapse: collapse; table-layout: fixed; font-size: 12px; line-height: 1.6; }
.outrigger-repl-names th { width: 26%; padding: 2px 8px 2px 0; text-align: left; font-weight: 500; font-family: var(--dsw-font-mono, ui-monospace, monospace); }
.outrigger-repl-names td { padding: 2px 8px 2px 0; }
.outrigger-repl-names td:last-child { width: 30%; padding-right: 0; color: var(--dsw-alias-label-tertiary, inherit); }
.outrigger-repl-names th, .outrigger-repl-names td { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.outrigger-repl-preview { font-family: var(--dsw-font-mono, ui-monospace, monospace); color: var(--dsw-alias-label-secondary, inherit); }

.outrigger-next { box-sizing: border-box; display: flex; align-items: center; gap: 12px; height: 36px; width: calc(100% - 2 * var(--dsh-composer-side-clearance, 0px));
  max-width: var(--dsh-composer-card-max-width, none); margin: 0 auto; padding: 4px 6px 4px 14px; border: 1px solid var(--dsw-alias-border-l2, GrayText); border-radius: 12px;
  font-size: 13px; line-height: 20px; color: var(--dsw-alias-label-primary, inherit); background: var(--dsw-alias-bg-layer-3, Canvas); }
.outrigger-next-text { flex: 1 1 auto; min-width: 0; margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.outrigger-next-loop { flex: 0 4 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12px; color: var(--dsw-alias-label-secondary, inherit); }
.outrigger-next-refused { flex: 0 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12px; color: var(--dsw-alias-state-error-primary, inherit); }
.outrigger-next-buttons { flex: none; display: flex; gap: 6px; margin-left: auto; }
.outrigger-next-button { appearance: none; padding: 2px 10px; border: 1px solid var(--dsw-alias-border-l2, GrayText); border-radius: 8px; font: inherit; font-size: 12px; line-height: 20px;
  color: var(--dsw-alias-label-secondary, inherit); background: none; cursor: pointer; }
.outrigger-next-button:hover { color: var(--dsw-alias-label-primary, inherit); }
.outrigger-next-button:focus-visible { outline: 2px solid var(--dsw-alias-brand-primary, Highlight); outline-offset: 1px; }
.outrigger-next-run { color: var(--dsw-alias-bg-layer-3, Canvas); background: var(--dsw-alias-label-primary, CanvasText); border-color: transparent; }
.outrigger-next-run:hover { color: var(--dsw-alias-bg-layer-3, Canvas); opacity: .85; }
.outrigger-next-autorun[aria-pressed="true"] { color: var(--dsw-alias-label-primary, inherit); border-color: currentColor; font-weight: 500; }
.outrigger-ghost { position: fixed; box-sizing: border-box; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; pointer-events: none; color: var(--dsw-alias-label-tertiary, GrayText);
  z-index: 5; }
/* The host's own invitation to type must not shine through, whatever the colours are. */
body:has(.outrigger-ghost) textarea:not([readonly])::placeholder { opacity: 0; }
/* Too narrow for one row: the step above, what can be pressed below. */
@media (max-width: 760px) {
  .outrigger-next { flex-wrap: wrap; gap: 2px 12px; height: 64px; }
  .outrigger-next-text { flex-basis: 100%; }
  .outrigger-next-loop, .outrigger-next-refused { flex: 1 1 0; }
}
/* Beside the buttons nothing of the reason would be left. */
@media (max-width: 520px) {
  .outrigger-next { height: auto; min-height: 64px; }
  .outrigger-next-loop, .outrigger-next-refused { flex-basis: 100%; }
}

.outrigger-card { list-style: none; border: 1px solid var(--dsw-alias-border-l2, GrayText); border-radius: 12px; background: var(--dsw-alias-bg-layer-3, Canvas); }
.outrigger-card:hover, .outrigger-card-open { border-color: var(--dsw-alias-label-dimmed, GrayText); }
.outrigger-card-open { background: var(--dsw-alias-bg-layer-2, Canvas); }
.outrigger-card-header { appearance: none; display: flex; align-items: center; gap: 12px; width: 100%; padding: 14px 16px; border: 0; border-radius: 12px;
  background: none; color: inherit; font: inherit; text-align: left; cursor: pointer; }
.outrigger-card-head { flex: 1; min-width: 0; display: flex; flex-direction: column; gap: 4px; }
.outrigger-card-name { font-size: 15px; font-weight: 600; line-height: 1.4; color: var(--dsw-alias-label-primary, inherit); }
.outrigger-card-about { font-size: 13px; line-height: 1.5; color: var(--dsw-alias-label-tertiary, inherit); }
.outrigger-badge { flex: none; padding: 1px 8px; border-radius: 999px; font-size: 11px; line-height: 17px; color: var(--dsw-alias-label-secondary, inherit);
  background: var(--dsw-alias-bg-module-platform, transparent); }
.outrigger-chevron { flex: none; width: 6px; height: 6px; margin: 0 3px 3px; border: solid var(--dsw-alias-label-tertiary, currentColor); border-width: 0 1.5px 1.5px 0;
  transform: rotate(45deg); transition: transform .16s; }
.outrigger-card-open .outrigger-chevron { margin: 3px 3px 0; transform: rotate(225deg); }
.outrigger-card-body { margin: 0 16px; padding-bottom: 8px; border-top: 1px solid var(--dsw-alias-border-l2, GrayText); }
.outrigger-note { margin: 12px 0 0; font-size: 12px; line-height: 1.5; color: var(--dsw-alias-label-tertiary, inherit); }
.outrigger-field { display: flex; align-items: center; gap: 16px; padding: 12px 0; }
.outrigger-field + .outrigger-field { border-top: 1px solid var(--dsw-alias-border-l2, GrayText); }
.outrigger-field-text { flex: 1; min-width: 0; }
.outrigger-label { font-size: 13px; font-weight: 500; line-height: 1.5; color: var(--dsw-alias-label-primary, inherit); }
.outrigger-hint { margin: 2px 0 0; font-size: 12px; line-height: 1.5; color: var(--dsw-alias-label-tertiary, inherit); }
.outrigger-select { flex: none; width: 168px; height: 34px; padding: 0 8px; border: 1px solid var(--dsw-alias-border-l2, GrayText); border-radius: 8px; font: inherit;
  font-size: 13px; color: var(--dsw-alias-label-primary, inherit); background: var(--dsw-alias-bg-layer-3, Canvas); }
.outrigger-invalid { border-color: var(--dsw-alias-state-error-primary, currentColor); }
input.outrigger-select { box-sizing: border-box; }
input.outrigger-select[inputmode="text"] { width: 248px; }
.outrigger-select:disabled { color: var(--dsw-alias-label-tertiary, GrayText); }
.outrigger-footer { display: flex; align-items: center; justify-content: flex-end; gap: 8px; padding: 12px 0 4px; border-top: 1px solid var(--dsw-alias-border-l2, GrayText); }
.outrigger-refused { flex: 1; min-width: 0; margin: 0; font-size: 12px; line-height: 1.5; color: var(--dsw-alias-state-error-primary, inherit); }
.outrigger-discard, .outrigger-save { appearance: none; padding: 5px 14px; border: 1px solid transparent; border-radius: 8px; font: inherit; font-size: 13px;
  line-height: 1.5; cursor: pointer; }
.outrigger-discard { border-color: var(--dsw-alias-border-l2, GrayText); color: var(--dsw-alias-label-secondary, inherit); background: none; }
.outrigger-save { color: var(--dsw-alias-bg-layer-3, Canvas); background: var(--dsw-alias-label-primary, CanvasText); }
.outrigger-discard:disabled, .outrigger-save:disabled { opacity: .4; cursor: default; }
.outrigger-card :focus-visible { outline: 2px solid var(--dsw-alias-brand-primary, Highlight); outline-offset: 1px; }
.outrigger-review { box-sizing: border-box; width: calc(100% - 2 * var(--dsh-composer-side-clearance, 0px)); max-width: var(--dsh-composer-card-max-width, none); margin: 0 auto 8px; padding: 10px 12px;
  border: 1px solid var(--dsw-alias-border-l2, GrayText); border-radius: 12px; background: var(--dsw-alias-bg-layer-3, Canvas); color: var(--dsw-alias-label-primary, inherit); }
.outrigger-review-title { margin: 0 0 6px; font-size: 13px; font-weight: 600; }
.outrigger-review-text { margin: 0; max-height: 40vh; overflow: auto; font-size: 12px; line-height: 1.5; white-space: pre-wrap; color: var(--dsw-alias-label-secondary, inherit); }
.outrigger-review-buttons { display: flex; align-items: center; justify-content: flex-end; gap: 6px; padding-top: 8px; }
.outrigger-review:focus-visible { outline: 2px solid var(--dsw-alias-brand-primary, Highlight); outline-offset: 1px; }
`
