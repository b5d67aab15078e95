/** What our text modules use of Node's `Buffer`, where there is no Node: the module's realm has the web's encoder. */
const encoder = new TextEncoder()

export const Buffer: { byteLength(text: string): number } = { byteLength: text => encoder.encode(text).length }
