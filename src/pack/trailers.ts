/**
 * Checkpoints in an answer: HTML comments at the top level that begin their own line. Everything else
 * that looks like one is left alone and reported with the reason. Pure and linear.
 */
import { type Block, blocks } from '../text/markdown.ts'
import type { Ignored, IgnoredReason } from './types.ts'

/** Bytes of one trailer. */
const maxTrailerBytes: number = 16 * 1024
/** Of one answer. */
const maxTrailers: number = 20

const mark = '<!-- ckpt'
const marks = /<!-- ckpt(?=\s|-->|$)/g

export interface FoundTrailer {
  /** UTF-16 offsets of the answer: from `<` to behind `-->`. */
  readonly start: number
  readonly end: number
  /** From 1. */
  readonly line: number
  /** As written. */
  readonly raw: string
}

export interface Found {
  readonly trailers: readonly FoundTrailer[]
  readonly ignored: readonly Ignored[]
}

export function findTrailers(text: string): Found {
  const trailers: FoundTrailer[] = []
  const ignored: Ignored[] = []
  if (!text.includes(mark)) return { trailers, ignored }
  const around = surroundings(text)
  const lineOf = lineCounter(text)
  let taken = 0
  for (const { index } of text.matchAll(marks)) {
    const line = lineOf(index)
    if (index < taken) {
      ignored.push({ line, reason: 'in-html' })
      continue
    }
    const place = around(index)
    if (place.kind === 'no') {
      ignored.push({ line, reason: place.reason })
      continue
    }
    const close = text.indexOf('-->', index + mark.length)
    if (close === -1) {
      ignored.push({ line, reason: 'unclosed' })
      continue
    }
    const end = close + 3
    taken = end
    const raw = text.slice(index, end)
    if (Buffer.byteLength(raw) > maxTrailerBytes) ignored.push({ line, reason: 'too-long' })
    else if (trailers.length === maxTrailers) ignored.push({ line, reason: 'too-many' })
    else trailers.push({ start: index, end, line, raw })
  }
  return { trailers, ignored }
}

type Place = { readonly kind: 'trailer' } | { readonly kind: 'no'; readonly reason: IgnoredReason }

/** What stands around an offset; asked in rising order. */
function surroundings(text: string): (offset: number) => Place {
  const list = blocks(text)
  const open: Block[] = []
  let next = 0
  return offset => {
    for (; next < list.length && list[next]!.start <= offset; next++) open.push(list[next]!)
    for (let i = open.length - 1; i >= 0; i--) if (open[i]!.end <= offset) open.splice(i, 1)
    const leaf = open.findLast(block => block.kind !== 'quote' && block.kind !== 'item')
    if (leaf?.kind === 'html' && leaf.depth === 0 && leaf.html === 2 && leaf.at === offset) return { kind: 'trailer' }
    return { kind: 'no', reason: reasonOf(open, leaf) }
  }
}

function reasonOf(open: readonly Block[], leaf: Block | undefined): IgnoredReason {
  if (leaf?.kind === 'fence' || leaf?.kind === 'code') return 'in-code'
  if (open.some(block => block.kind === 'quote')) return 'in-quote'
  if (open.some(block => block.kind === 'item')) return 'in-list'
  return leaf?.kind === 'html' && leaf.at !== undefined ? 'in-html' : 'inline'
}

/** Lines by offset, from 1, asked in rising order; LF, CR LF and a lone CR end one. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1
  let at = 0
  return offset => {
    for (; at < offset; at++) {
      const unit = text.charCodeAt(at)
      if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) line++
    }
    return line
  }
}
