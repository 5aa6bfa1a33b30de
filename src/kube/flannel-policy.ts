import { flannelGroup, formatFlannelUser } from '../contract/node-users.ts'
import { buildAdmissionPolicy } from './admission-policy.ts'
import type { Manifest } from './object.ts'

/** Prefix of the annotations in which flanneld publishes its address. */
const annotationPrefix = 'flannel.alpha.coreos.com/'

/**
 * Limits what flanneld may change. RBAC allows flanneld to patch `nodes/status` of every node, including
 * labels, annotations, addresses and conditions. NodeRestriction applies to kubelets only. Without this
 * policy, root on one worker could use its flanneld certificate to redirect traffic of other nodes.
 */
export const flannelPolicy: readonly Manifest[] = buildAdmissionPolicy('flannel.hyperkube.dev', {
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['nodes/status'], operations: ['UPDATE'] },
      ],
    },
    matchConditions: [{ name: 'flannel', expression: `'${flannelGroup}' in request.userInfo.groups` }],
    validations: [
      {
        expression: `request.userInfo.username == '${formatFlannelUser('')}' + request.name`,
        message: 'flanneld may change only its own node',
      },
      {
        expression: compareMaps('labels', 'true'),
        message: 'flanneld may not change labels',
      },
      {
        expression: compareMaps('annotations', `!key.startsWith('${annotationPrefix}')`),
        message: `flanneld may change only annotations that begin with ${annotationPrefix}`,
      },
      {
        expression: [
          ...['addresses', 'capacity', 'allocatable', 'daemonEndpoints', 'nodeInfo', 'images'].map(
            compareStatus,
          ),
          compareConditions(),
        ].join(' && '),
        message: 'flanneld may change only the condition NetworkUnavailable',
      },
    ].map((one) => ({ ...one, reason: 'Forbidden' })),
  },
})

/**
 * Builds an expression that is true if the labels or annotations whose keys match `condition` are unchanged.
 */
function compareMaps(field: 'labels' | 'annotations', condition: string): string {
  const includes = (one: string, other: string): string =>
    `(!has(${one}) || ${one}.all(key, !(${condition}) || (has(${other}) && key in ${other} && ${other}[key] == ${one}[key])))`
  const [before, after] = [`oldObject.metadata.${field}`, `object.metadata.${field}`]
  return `${includes(before, after)} && ${includes(after, before)}`
}

/** Builds an expression that is true if a field of the status is unchanged. */
function compareStatus(field: string): string {
  const [before, after] = [`oldObject.status.${field}`, `object.status.${field}`]
  return `has(${before}) == has(${after}) && (!has(${before}) || ${before} == ${after})`
}

/** Builds an expression that is true if no condition other than NetworkUnavailable has changed. */
function compareConditions(): string {
  const others = (object: string): string => {
    const field = `${object}.status.conditions`
    return `(has(${field}) ? ${field}.filter(one, one.type != 'NetworkUnavailable') : [])`
  }
  return `${others('oldObject')} == ${others('object')}`
}
