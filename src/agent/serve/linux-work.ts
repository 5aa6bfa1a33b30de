import { Secret } from '../../pki/secret.ts'
import { apply } from '../apply/apply.ts'
import { certificateRequests } from '../apply/certificate-requests.ts'
import { diffHost } from '../apply/diff-host.ts'
import { collectFacts } from '../facts/collect.ts'
import type { FactSource } from '../facts/source.ts'
import type { LinuxHost } from '../host/host.ts'
import type { HostWork } from './answer.ts'

/** What an agent does on the Linux host that it runs on. */
export function linuxWork(host: LinuxHost, source: FactSource): HostWork {
  return {
    facts: async (name) => collectFacts(source, name),
    diff: async (plan) => diffHost(host, plan),
    certificateRequests: async (plan) => certificateRequests(host, plan),
    async apply({ plan, through, run, secrets, certificates }, emit, signal) {
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
    reset: async () => Promise.reject(new Error('not yet')),
  }
}
