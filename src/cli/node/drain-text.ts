import { toPrintable } from '../../kit/printable.ts'
import { findController, formatPodName } from '../../lifecycle/drain/pod.ts'
import type { SortedPods } from '../../lifecycle/drain/sort-pods.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { formatCount } from '../format-text.ts'

/** Describes what happens to the pods of a node, for the operator who must confirm it. */
export function formatPodMoves(node: string, { moving, unmanaged, staying }: SortedPods): string {
  const podsToEvict = [...moving, ...unmanaged]
  const head = podsToEvict.length === 0 ? 'there are none to move' : 'these are moved away'
  const lines = podsToEvict.map((pod) => {
    const owner = findController(pod)
    return `  ${formatPodName(pod)} ${owner === undefined ? '(gone for good)' : `(${owner.kind} ${owner.name})`}\n`
  })
  const stayingText =
    staying.length === 0
      ? ''
      : `${formatCount(staying.length, 'pod')} of the node itself, or ended already: left alone\n`
  return toPrintable(`${node} takes no new pods, and ${head}\n${lines.join('')}${stayingText}`)
}

/** Describes the state of the node afterwards. */
export function formatDrainResult(node: string, code: ExitCode): string {
  const hint = `hyperkube node uncordon ${node} lets pods come back`
  if (code === exitCodes.ok) return `${node} is empty, and takes no new pods; ${hint}\n`
  return code === exitCodes.interrupted ? `${node} may be cordoned; ${hint}\n` : ''
}
