import { printable } from '../../kit/printable.ts'
import { controllerOf, nameOf } from '../../lifecycle/drain/pod.ts'
import type { SortedPods } from '../../lifecycle/drain/sort-pods.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { count } from '../format-text.ts'

/** What becomes of the pods of a node, for whoever has to agree to it. */
export function movingText(node: string, { moving, unmanaged, staying }: SortedPods): string {
  const going = [...moving, ...unmanaged]
  const head = going.length === 0 ? 'there are none to move' : 'these are moved away'
  const lines = going.map((pod) => {
    const owner = controllerOf(pod)
    return `  ${nameOf(pod)} ${owner === undefined ? '(gone for good)' : `(${owner.kind} ${owner.name})`}\n`
  })
  const rest =
    staying.length === 0
      ? ''
      : `${count(staying.length, 'pod')} of the node itself, or ended already: left alone\n`
  return printable(`${node} takes no new pods, and ${head}\n${lines.join('')}${rest}`)
}

/** How it is with the node afterwards. */
export function drainedText(node: string, code: ExitCode): string {
  const next = `hyperkube node uncordon ${node} lets pods come back`
  if (code === exitCodes.ok) return `${node} is empty, and takes no new pods; ${next}\n`
  return code === exitCodes.interrupted ? `${node} may be cordoned; ${next}\n` : ''
}
