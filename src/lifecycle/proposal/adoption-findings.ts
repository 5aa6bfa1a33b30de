import type { Finding } from '../../contract/finding.ts'
import type { Op } from '../../contract/op.ts'
import type { Identity } from '../../identity/identity.ts'
import { joinNames } from '../../kit/text.ts'

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
}

/**
 * Checks changes of an adopted cluster. Until `adopt commit`, nothing may change that the other tool could not
 * continue with. Afterwards no host may still run what the other tool installed.
 */
export function checkAdoptedCluster(state: AdoptedClusterState): Finding[] {
  const { adoption } = state.identity
  if (adoption === undefined) return []
  return adoption.committed === undefined ? checkBeforeCommit(state) : checkMoved(state.ops)
}

function checkBeforeCommit({ removed, desiredVersion, versions }: AdoptedClusterState): Finding[] {
  const other = versions.find((version) => version !== desiredVersion)
  const refuse = (message: string): Finding => ({
    code: 'ADOPT_NOT_COMMITTED',
    severity: 'error',
    message,
    hint: 'undo this change of cluster.yml, or give up the way back first: hyperkube adopt commit',
  })
  return [
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

/** Finds hosts that still run what the other tool installed. */
function checkMoved(ops: AdoptedClusterState['ops']): Finding[] {
  const isPending = ({ target, action }: Op): boolean => target === 'predecessor' && action === 'create'
  return [...ops]
    .filter(([, hostOps]) => hostOps.some(isPending))
    .map(([host]) => ({
      code: 'ADOPT_HOSTS_PENDING',
      severity: 'error',
      message: 'the host still runs what the other tool installed, so nothing can be committed',
      hint: 'move it first: hyperkube up',
      host,
    }))
}
