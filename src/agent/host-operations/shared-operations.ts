import { inTurns } from '../../kit/mutex.ts'
import { Secret } from '../../pki/secret.ts'
import { apply } from '../apply/apply.ts'
import { certificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { installedCertificates } from '../apply/installed-certificates.ts'
import { formerPlan } from '../apply/applied-plan.ts'
import { textsBefore } from '../apply/current-contents.ts'
import type { Host } from '../host/host.ts'
import { hostTrials } from '../auto-rollback/provisional-changes.ts'
import type { HostWork } from '../server/dispatch.ts'

/** What is done in the same way on every system. */
type Shared =
  | 'diff'
  | 'formerPlan'
  | 'certificates'
  | 'certificateRequests'
  | 'apply'
  | 'trial'
  | 'beginTrial'
  | 'moveTrial'
  | 'keepTrial'
  | 'goBack'

export function sharedWork(host: Host): Pick<HostWork, Shared> {
  // Asked once more over a new connection while the first answer is being made, each would make half of the keys.
  const keyMaking = inTurns()
  const trials = hostTrials(host)
  return {
    async diff(plan, texts, renew) {
      const found = await diffHost(host, plan, renew)
      return texts ? { ...found, texts: await textsBefore(host, plan, found.ops) } : found
    },
    formerPlan: async (than) => (than === undefined ? trials.former() : formerPlan(host, than)),
    certificates: async () => installedCertificates(host),
    certificateRequests: async (plan, renew, places) =>
      keyMaking(async () => certificateRequests(host, plan, renew, places)),
    async apply({ plan, through, run, secrets, certificates }, emit, signal) {
      await trials.forgetPast()
      await apply({
        host,
        plan,
        through,
        run,
        secrets: new Map(
          Object.entries(secrets).map(([name, text]) => [
            name,
            new Secret(name, Buffer.from(text, 'base64')),
          ]),
        ),
        certificates: new Map(Object.entries(certificates)),
        emit,
        signal,
      })
    },
    trial: async () => trials.now(),
    beginTrial: async (trial) => trials.begin(trial),
    moveTrial: async (id, deadline) => trials.move(id, deadline),
    keepTrial: async (id) => trials.keep(id),
    goBack: async (run, emit, signal) => trials.goBack(run, emit, signal),
  }
}
