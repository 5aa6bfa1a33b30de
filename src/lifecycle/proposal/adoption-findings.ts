import type { Finding } from '../../contract/finding.ts'
import type { Op } from '../../contract/op.ts'
import type { Identity } from '../../identity/identity.ts'
import { joinNames } from '../../kit/text.ts'
import { isFirstStart } from '../../rollout/host.ts'

/** State of a cluster before changes, as far as the rules of an adoption need it. */
export interface AdoptedClusterState {
  readonly identity: Pick<Identity, 'adoption'>
  /** Ops of all hosts, by host name. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  /** Names of the hosts that cluster.yml does not contain any more. */
  readonly removed: readonly string[]
  /** Desired version of Kubernetes. */
  readonly desiredVersion: string
  /** Versions of the running API servers. */
  readonly versions: readonly string[]
  /** True for `adopt commit`. */
  readonly commits: boolean
}

/**
 * Checks changes of an adopted cluster. Until `adopt commit`, nothing may change that the other tool could not
 * continue with. The commit itself requires that all hosts have moved. Afterwards hosts may be installed again,
 * for example after a reset.
 */
export function checkAdoptedCluster(state: AdoptedClusterState): Finding[] {
  const { adoption } = state.identity
  if (adoption === undefined) return []
  if (adoption.committed === undefined) return checkBeforeCommit(state, adoption.hosts)
  return state.commits ? checkMoved(state.ops) : []
}

function checkBeforeCommit(
  { ops, removed, desiredVersion, versions }: AdoptedClusterState,
  adopted: readonly string[] | undefined,
): Finding[] {
  const added = [...ops.keys()].filter((host) => adopted?.includes(host) === false)
  const other = versions.find((version) => version !== desiredVersion)
  const refuse = (message: string): Finding => ({
    code: 'ADOPT_NOT_COMMITTED',
    severity: 'error',
    message,
    hint: 'undo this change of cluster.yml, or commit first, after which no rollback is possible: hyperkube adopt commit',
  })
  return [
    ...(added.length === 0
      ? []
      : [refuse(`${joinNames(added)} would be added, and the other tool would not know it`)]),
    ...(removed.length === 0
      ? []
      : [refuse(`${joinNames(removed)} would be removed, but could not return to the other tool then`)]),
    ...(other === undefined
      ? []
      : [
          refuse(
            `Kubernetes ${desiredVersion} would replace ${other}; hosts could not return to the other tool then`,
          ),
        ]),
  ]
}

/** Finds hosts that still run something that the other tool installed. */
function checkMoved(ops: AdoptedClusterState['ops']): Finding[] {
  return [...ops].flatMap(([host, hostOps]): Finding[] => {
    const isUntouched = hostOps.some(({ target, action }) => target === 'predecessor' && action === 'create')
    if (!isUntouched && !hostOps.some(isFirstStart)) return []
    const what = isUntouched
      ? 'the host still runs what the other tool installed'
      : 'the host has not moved completely'
    return [
      {
        code: 'ADOPT_HOSTS_PENDING',
        severity: 'error',
        message: `${what}, so nothing can be committed`,
        hint: 'move it first: hyperkube up',
        host,
      },
    ]
  })
}
