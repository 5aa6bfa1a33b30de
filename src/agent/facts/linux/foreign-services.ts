import type { Fact } from './fact.ts'
import { startedProgram } from './unit-program.ts'
import { unitTexts } from './unit-files.ts'

/** Services that we would make. */
const ours = [
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

/** All that we start is below here, so a service that starts something else is not of our making. */
const programs = '/opt/hyperkube/'

export const foreignServices: Fact<'foreignServices'> = async (source) => {
  const texts = await unitTexts(source, ours)
  return ours.filter((name) => isForeign(texts.get(name)))
}

/** Pieces without a unit are in nobody's way, unless they would start something. */
function isForeign(
  found: { readonly unit?: string; readonly pieces: readonly string[] } | undefined,
): boolean {
  if (found === undefined) return false
  const { unit, pieces } = found
  const program = startedProgram([unit ?? '', ...pieces])
  if (program === undefined) return unit !== undefined
  return !program.startsWith(programs)
}
