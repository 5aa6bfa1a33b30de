import type { Fact } from './fact.ts'
import { findStartedProgram } from './unit-program.ts'
import { readUnitFiles } from './unit-files.ts'

/** Services that hyperkube creates. */
const hyperkubeServices = [
  'apiserver-proxy',
  'containerd',
  'etcd',
  'flanneld',
  'hyperkube-agent',
  'hyperkube-controller-manager',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubelet',
].map((name) => `${name}.service`)

/**
 * Every program of hyperkube is below this directory, so a service that starts another program is foreign.
 */
const programDirectory = '/opt/hyperkube/'

export const readForeignServices: Fact<'foreignServices'> = async (source) => {
  const unitFiles = await readUnitFiles(source, hyperkubeServices)
  return hyperkubeServices.filter((name) => isForeign(unitFiles.get(name)))
}

/** Drop-ins without a unit do not matter, unless they would start something. */
function isForeign(
  found: { readonly unit?: string; readonly dropIns: readonly string[] } | undefined,
): boolean {
  if (found === undefined) return false
  const { unit, dropIns } = found
  const program = findStartedProgram([unit ?? '', ...dropIns])
  if (program === undefined) return unit !== undefined
  return !program.startsWith(programDirectory)
}
