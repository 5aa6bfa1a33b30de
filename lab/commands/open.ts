import type { Command } from 'commander'
import { cacheDirectory } from '../cache.ts'
import { Lab } from '../hosts/lab.ts'
import { terminalReport } from '../report.ts'

/** The lab that `--lab` names, for any command below the one that carries the flag. */
export async function openLab(command: Command): Promise<Lab> {
  const { lab } = command.optsWithGlobals<{ lab: string }>()
  return Lab.open({ name: lab, cache: cacheDirectory(), report: terminalReport() })
}
