import { z } from 'zod'
import { hostRequest, hostSpec, hostStatus, maxHostRequests } from '../contract/host-resource.ts'
import { buildCrd, crdGroup, crdVersion } from './crd.ts'
import { type Kind, kubeObject, type Manifest } from './object.ts'
import { buildRoleBinding, buildRole } from './rbac.ts'

const schema = kubeObject.extend({ spec: hostSpec.prefault({}), status: hostStatus.prefault({}) })
/**
 * The Host resource: requests to a host and the status that its agent reports. A Host object has the same
 * name as the node.
 */
export type HostResource = z.infer<typeof schema>

export const hostKind: Kind<HostResource> = { apiVersion: `${crdGroup}/${crdVersion}`, kind: 'Host', schema }

export function buildHostCrd(): Manifest {
  return buildCrd({
    kind: 'Host',
    plural: 'hosts',
    singular: 'host',
    fields: {
      spec: hostSpec.extend({ requests: z.array(hostRequest).max(maxHostRequests).optional() }),
      status: hostStatus,
    },
    status: true,
    columns: [
      { name: 'Agent', type: 'string', jsonPath: '.status.agent' },
      { name: 'Heartbeat', type: 'date', jsonPath: '.status.heartbeat' },
      { name: 'Idle', type: 'string', jsonPath: '.status.suspended' },
    ],
  })
}

/** Returns the Kubernetes user of a host's agent, which is the user of its node. */
export function formatAgentUser(host: string): string {
  return `system:node:${host}`
}

const hostRolePrefix = 'hyperkube:host:'

/** Returns the host name in a role name; undefined if the role does not belong to a host. */
export function parseHostRoleName(name: string): string | undefined {
  return name.startsWith(hostRolePrefix) ? name.slice(hostRolePrefix.length) : undefined
}

/** Builds the RBAC of a host's agent: it may watch only its own Host object and patch only the status. */
export function buildHostRbac(host: string): Manifest[] {
  const name = `${hostRolePrefix}${host}`
  const ownObject = { apiGroups: [crdGroup], resourceNames: [host] }
  return [
    buildRole(name, [
      // RBAC authorizes a list or watch by resourceNames if the field selector of the request names one
      // object.
      { ...ownObject, resources: ['hosts'], verbs: ['list', 'watch'] },
      { ...ownObject, resources: ['hosts/status'], verbs: ['patch'] },
    ]),
    buildRoleBinding(name, name, { kind: 'User', name: formatAgentUser(host) }),
  ]
}
