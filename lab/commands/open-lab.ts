import type { Command } from 'commander'
import { HyperkubeError } from '../../src/kit/errors.ts'
import { cacheDirectory } from '../cache.ts'
import { Lab, type LabOptions } from '../hosts/lab.ts'
import { terminalReport } from '../report.ts'

/** The lab that `--lab` names, made known to the machine if it is new. */
export async function openLab(command: Command): Promise<Lab> {
  return Lab.open(options(command))
}

/** The lab that `--lab` names, which must be there. */
export async function findLab(command: Command): Promise<Lab> {
  const { name, ...rest } = options(command)
  const lab = await Lab.find({ name, ...rest })
  if (lab !== undefined) return lab
  throw new HyperkubeError('NO_SUCH_LAB', `there is no lab ${name}`, {
    hint: `npm run lab -- --lab ${name} up 2`,
  })
}

function options(command: Command): LabOptions {
  const { lab } = command.optsWithGlobals<{ lab: string }>()
  return { name: lab, cache: cacheDirectory(), report: terminalReport() }
}
