import { prevents } from '../adoption-report.ts'
import { type AdoptedHost, listAdoptedControlPlanes } from '../observation.ts'
import type { AdoptionCheck } from './check.ts'

interface SharedKey {
  readonly kind: keyof NonNullable<AdoptedHost['keyDigests']>
  readonly code: string
  readonly what: string
  readonly flag: string
}

const sharedKeys: readonly SharedKey[] = [
  {
    kind: 'serviceAccount',
    code: 'ADOPT_SERVICE_ACCOUNTS',
    what: 'the key of service account tokens',
    flag: 'service-account-signing-key-file',
  },
  {
    kind: 'encryption',
    code: 'ADOPT_ENCRYPTION',
    what: 'the configuration of encryption',
    flag: 'encryption-provider-config',
  },
]

/** Finds control planes with other keys than the first one, whose keys the identity gets. */
export const checkSharedKeys: AdoptionCheck = (observation) => {
  const [first, ...others] = listAdoptedControlPlanes(observation)
  return sharedKeys.flatMap(({ kind, code, what, flag }) =>
    others
      .filter(({ keyDigests }) => keyDigests?.[kind] !== first?.keyDigests?.[kind])
      .map(({ address }) =>
        prevents(
          code,
          `${what} is not the same file as on ${first?.address}, and hyperkube keeps only one`,
          `compare the files of --${flag} on all control planes with sha256sum; make them equal, and restart API servers`,
          address,
        ),
      ),
  )
}
