import { nodeFiles } from '../../src/node/files.ts'
import { memoryFiles } from '../support/memory-files.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { filesContract } from './files.contract.ts'

filesContract('the machine', () => ({ files: nodeFiles(), folder: temporaryFolder() }))

filesContract('memory', () => {
  const files = memoryFiles()
  files.makeFolder('/work')
  return { files, folder: '/work' }
})
