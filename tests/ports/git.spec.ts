import { nodeGit } from '../../src/node/git.ts'
import { gitContract } from './git.contract.ts'

gitContract('the machine', env => nodeGit(env))
