import { describe, HyperkubeError } from '../kit/errors.ts'
import { waitWatchfully } from '../kit/poll-with-progress.ts'
import { describeGate } from '../rollout/describe.ts'
import { quorum } from '../rollout/quorum.ts'
import type { Gate } from '../rollout/step.ts'
import type { Observer, Unwell } from './cluster-access.ts'
import type { Tell } from './event-stream.ts'

const between = 200

export interface GateOptions {
  readonly within: number
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Waits until what must be so is so, and says meanwhile what it waits for. */
export async function passGate(
  gate: Gate,
  observer: Observer,
  tell: Tell,
  { within, now, signal }: GateOptions,
): Promise<void> {
  await waitWatchfully(async () => look(gate, observer), {
    tell: (reason, since) => tell({ type: 'waiting', for: `until ${describeGate(gate)}: ${reason}`, since }),
    late: (reason) => timedOut(gate, reason),
    now,
    deadline: now().getTime() + within,
    every: between,
    signal,
  })
}

async function look(gate: Gate, observer: Observer): Promise<Unwell> {
  try {
    return await ask(gate, observer)
  } catch (error) {
    return describe(error)
  }
}

async function ask(gate: Gate, observer: Observer): Promise<Unwell> {
  switch (gate.kind) {
    case 'etcd-quorum-without':
      return quorumWithout(gate.host, gate.members, observer)
    case 'etcd-healthy':
      return observer.etcdWell(gate.members)
    case 'etcd-member-promoted':
      return observer.isVoter(gate.host)
    case 'api-ready':
      return observer.apiReady(gate.hosts)
    case 'controllers-ready':
      return observer.controllersReady(gate.host)
    default:
      // A node with a network that does not work is not ready.
      return observer.nodesReady(gate.hosts)
  }
}

/** Each of the others by itself: one that is unwell may be borne by the rest. */
async function quorumWithout(host: string, members: readonly string[], observer: Observer): Promise<Unwell> {
  const others = members.filter((name) => name !== host)
  const seen = await Promise.all(
    others.map(async (name) => observer.etcdWell([name]).catch((error: unknown) => describe(error))),
  )
  const well = seen.filter((reason) => reason === undefined).length
  // Alone or in twos there is nobody to stand in; that this is so was said before.
  const needed = members.length < 3 ? others.length : quorum(members.length)
  return well >= needed
    ? undefined
    : `${well} of ${needed} others are well: ${seen.filter(Boolean).join('; ')}`
}

function timedOut(gate: Gate, reason: string): HyperkubeError {
  return new HyperkubeError('GATE_NOT_PASSED', `it is not so that ${describeGate(gate)}: ${reason}`, {
    hint: 'mend that, then run the same command again: it goes on where this one ended',
  })
}
