/** What a model is told of the REPL, beside the tools' own texts. Constant for a configuration, so that a request's beginning can be cached. */

const cells = `\`run_code\` runs one TypeScript cell in a REPL that belongs to this session. What a cell declares at top level is there for the next cells; declare a name
again whenever you like, functions made earlier see the new value. A cell is the body of an async function: \`await\` anywhere, \`return\` what you want to see.
Values that are not JSON come back as readable text, long ones with a handle. When a cell throws, what it had finished stays, nothing is half-declared.`

const edits = 'To change a cell you sent, call `edit_run_code` with the smallest edit; do not send the cell again.'

const programs = `Call tools as \`await tools.name({…})\`. \`capabilities.tree()\`, \`.find("words")\` and \`.inspect({symbols: ["tools.name"]})\` show what there is.
State survives restarts. Tool results, time and random numbers are replayed; files, network and commands are never done twice, their values come back from
saved copies. You are told once which names could not be kept. \`repl.state({action: "save" | "restore" | "delete" | "list" | "reset", name})\` keeps states.
Keep data in variables; return or print only what you need to read.`

/** @param hasEdit - whether `edit_run_code` is offered. At most 2,000 characters. */
export function promptSection(hasEdit: boolean): string {
  return [cells, ...(hasEdit ? [edits] : []), programs].join('\n')
}

/** Why a tool that programs call was not called directly. */
export function directCallRefused(tool: string): string {
  const member = /^[A-Za-z_$][\w$]*$/.test(tool) ? `tools.${tool}` : `tools[${JSON.stringify(tool)}]`
  return `Only run_code and edit_run_code can be called directly. Write: return await ${member}({…})`
}

export const nestedEditRefused = 'edit_run_code is for direct calls, not for programs.'

/** What programs have beside the host's tools, as declarations. */
export const declarations = `declare const capabilities: {
  tree(): Promise<JsonValue>;
  find(query: string): Promise<JsonValue>;
  inspect(what: { symbols: string[]; budget?: number }): Promise<JsonValue>;
}

declare const repl: {
  state(what?: { action: "list" | "save" | "restore" | "delete" | "reset"; name?: string; cell?: number }): Promise<JsonValue>;
  history(query?: { limit?: number }): Promise<JsonValue>;
  page(handle: string, query?: { path?: (string | number)[]; offset?: number; limit?: number }): Promise<JsonValue>;
}

declare const code: {
  run(program: { code: string; description?: string }): Promise<{ logs: JsonValue[]; result?: JsonValue }>;
}`
