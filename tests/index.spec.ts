import { describe, expect, it } from 'vitest'
import * as library from '../src/index.ts'

describe('the library', () => {
  it('exports what a door or an engine of somebody else needs, and nothing by accident', () => {
    expect(Object.keys(library).sort()).toEqual([
      'OutriggerError',
      'createKeelEngine',
      'createOutrigger',
      'decodeInput',
      'emptyFolded',
      'engineOrder',
      'errorDocument',
      'foldEvent',
      'openLog',
      'openProject',
      'operationsOf',
      'systemTimers',
      'uncounted',
    ])
  })
})
