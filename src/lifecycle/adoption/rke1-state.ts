import { z } from 'zod'
import type { ExistingCa, ExistingKeys } from '../../identity/import-identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { Secret } from '../../pki/secret.ts'

const pair = z.looseObject({ certificatePEM: z.string().default(''), keyPEM: z.string().min(1) })

const state = z.looseObject({
  certificatesBundle: z.looseObject({
    'kube-ca': pair,
    'kube-apiserver-requestheader-ca': pair,
    'kube-service-account-token': pair,
  }),
  encryptionConfig: z.string().default(''),
})

const stateFile = z.looseObject({ currentState: state })

/** Reads the keys of a cluster from the cluster.rkestate of RKE1. Errors do not quote the file. */
export function parseRke1State(text: string, file: string): ExistingKeys {
  const parsed = stateFile.safeParse(parseJson(text))
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.') ?? ''
    throw new HyperkubeError('ADOPT_FILE_NOT_READ', `${file} is not a complete state file of RKE1: ${path}`, {
      hint: 'rke up writes it beside its cluster.yml; without --state the keys are read from the control planes',
    })
  }
  const { certificatesBundle: bundle, encryptionConfig } = parsed.data.currentState
  const toCa = (name: string, { certificatePEM, keyPEM }: z.infer<typeof pair>): ExistingCa => ({
    certificate: certificatePEM,
    privateKey: new Secret(name, keyPEM),
  })
  const kubernetes = toCa('kube-ca', bundle['kube-ca'])
  return {
    kubernetes,
    // etcd of RKE1 has no CA of its own.
    etcd: kubernetes,
    frontProxy: toCa('kube-apiserver-requestheader-ca', bundle['kube-apiserver-requestheader-ca']),
    serviceAccountKey: new Secret('service account key', bundle['kube-service-account-token'].keyPEM),
    encryptionConfiguration:
      encryptionConfig === '' ? undefined : new Secret('encryption configuration', encryptionConfig),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
