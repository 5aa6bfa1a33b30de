import { hostname } from 'node:os'
import { inTurns } from '../../kit/turns.ts'
import { Secret } from '../../pki/secret.ts'
import { apply } from '../apply/apply.ts'
import { certificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { installedCertificates } from '../apply/installed-certificates.ts'
import { textsBefore } from '../apply/texts-before.ts'
import { reset } from '../apply/reset/reset.ts'
import { stopServices } from '../apply/reset/stop-services.ts'
import { clearEtcd } from '../apply/etcd/clear-etcd.ts'
import { endRestore, placeEtcd, restoring } from '../apply/etcd/place-etcd.ts'
import { formerPlan } from '../apply/plan-memory.ts'
import { collectFacts } from '../facts/collect.ts'
import type { FactSource } from '../facts/source.ts'
import type { LinuxHost } from '../host/host.ts'
import { hostTrials } from '../trial/host-trials.ts'
import type { HostWork } from './answer.ts'

/** What an agent does on the Linux host that it runs on. */
export function linuxWork(host: LinuxHost, source: FactSource): HostWork {
  // Asked once more over a new connection while the first answer is being made, each would make half of the keys.
  const keyMaking = inTurns()
  const trials = hostTrials(host)
  return {
    facts: async (name) => collectFacts(source, name),
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
    stopServices: async (ask, emit, signal) =>
      stopServices({ host, name: hostname(), run: ask.run, emit, signal }, ask),
    placeEtcd: async ({ run, restore, sha256 }, emit, signal) =>
      placeEtcd({ host, name: hostname(), run, emit, signal }, { restore, sha256 }),
    clearEtcd: async (run, emit, signal) => clearEtcd({ host, name: hostname(), run, emit, signal }),
    restoring: async () => restoring(host),
    endRestore: async (id) => endRestore(host, id),
    trial: async () => trials.now(),
    beginTrial: async (trial) => trials.begin(trial),
    moveTrial: async (id, deadline) => trials.move(id, deadline),
    keepTrial: async (id) => trials.keep(id),
    goBack: async (run, emit, signal) => trials.goBack(run, emit, signal),
    reset: async (run, emit, signal) => (await reset({ host, name: hostname(), run, emit, signal })).farewell,
  }
}
