import type { Command } from 'commander'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { cacheDirectory } from '../cache.ts'
import { Lab, type LabOptions } from '../hosts/lab.ts'
import { terminalReport } from '../report.ts'

/** Opens the lab that `--lab` names, and creates it if it is new. */
export async function openLab(command: Command): Promise<Lab> {
  return Lab.open(readLabOptions(command))
}

/** Opens the lab that `--lab` names; it must exist. */
export async function findLab(command: Command): Promise<Lab> {
  const { name, ...rest } = readLabOptions(command)
  const lab = await Lab.find({ name, ...rest })
  if (lab !== undefined) return lab
  throw new HyperkubeError('NO_SUCH_LAB', `there is no lab ${name}`, {
    hint: `npm run lab -- --lab ${name} up 2`,
  })
}

function readLabOptions(command: Command): LabOptions {
  const { lab } = command.optsWithGlobals<{ lab: string }>()
  return { name: lab, cache: cacheDirectory(), report: terminalReport() }
}
