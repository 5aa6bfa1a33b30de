import type { Manifest } from '../../kube/object.ts'
import { partLabel } from './managed-objects.ts'

/** Kinds of the RBAC objects of hosts. They have the label, whichever controllers are enabled. */
const hostKinds = ['ClusterRole', 'ClusterRoleBinding']

/**
 * Builds kubectl commands that delete objects of hyperkube: the labelled ones by their label, the others by name.
 * Objects of hyperkube's own kinds are left out: they are deleted with their CustomResourceDefinition.
 */
export function buildRemovalCommands(
  labelled: readonly Manifest[],
  named: readonly Manifest[],
): readonly string[] {
  const kinds = labelled
    .filter(({ apiVersion }) => !apiVersion.startsWith('hyperkube.dev/'))
    .map(({ kind }) => kind)
  const unique = [...new Set([...kinds, ...hostKinds])].map((kind) => kind.toLowerCase())
  const names = new Map<string, string[]>()
  for (const { kind, metadata } of named) {
    const namespace = metadata.namespace === undefined ? '' : ` -n ${metadata.namespace}`
    const command = `kubectl delete --ignore-not-found${namespace} ${kind.toLowerCase()}`
    names.set(command, [...(names.get(command) ?? []), metadata.name])
  }
  return [
    `kubectl delete --ignore-not-found -A -l ${partLabel}=controllers ${unique.join(',')}`,
    ...[...names].map(([command, all]) => `${command} ${all.join(' ')}`),
  ]
}
