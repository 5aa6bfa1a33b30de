import { z } from 'zod'
import { hostRequest, hostSpec, hostStatus, mostRequests } from '../contract/host-resource.ts'
import { definitionOf, ownGroup, ownVersion } from './crd.ts'
import { type Kind, kubeObject, type Manifest } from './object.ts'
import { binding, role } from './rbac.ts'

const schema = kubeObject.extend({ spec: hostSpec.prefault({}), status: hostStatus.prefault({}) })
/** A host, as the cluster knows it: what is asked of it, and what its agent says. It bears the name of its node. */
export type Host = z.infer<typeof schema>

export const hosts: Kind<Host> = { apiVersion: `${ownGroup}/${ownVersion}`, kind: 'Host', schema }

export const hostDefinition: Manifest = definitionOf({
  kind: 'Host',
  plural: 'hosts',
  singular: 'host',
  fields: {
    spec: hostSpec.extend({ requests: z.array(hostRequest).max(mostRequests).optional() }),
    status: hostStatus,
  },
  status: true,
  columns: [
    { name: 'Agent', type: 'string', jsonPath: '.status.agent' },
    { name: 'Heard', type: 'date', jsonPath: '.status.heartbeat' },
    { name: 'Idle', type: 'string', jsonPath: '.status.idle' },
  ],
})

/** As whom the agent of a host speaks: as its node does. */
export function agentOf(host: string): string {
  return `system:node:${host}`
}

const rightsOf = 'hyperkube:host:'

/** Whose rights are called so; undefined when they are not a host's. */
export function hostOfRights(name: string): string | undefined {
  return name.startsWith(rightsOf) ? name.slice(rightsOf.length) : undefined
}

/** What the agent of a host may: see its own object and no other, and say how it is with it. */
export function hostRights(host: string): Manifest[] {
  const name = `${rightsOf}${host}`
  const own = { apiGroups: [ownGroup], resourceNames: [host] }
  return [
    role(name, [
      // A watch that names one object is judged by that name.
      { ...own, resources: ['hosts'], verbs: ['list', 'watch'] },
      { ...own, resources: ['hosts/status'], verbs: ['patch'] },
    ]),
    binding(name, name, { kind: 'User', name: agentOf(host) }),
  ]
}
