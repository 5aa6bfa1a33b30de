import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { HyperkubeError } from '../kit/errors.ts'
import { caKeyName, type CaName } from '../pki/ca.ts'
import { inspectCertificate, parseCertificates } from '../pki/certificates.ts'
import { loadSigningKey, type Random, systemRandom } from '../pki/keys.ts'
import { Secret } from '../pki/secret.ts'
import { type AdoptionSource, createIdentity, type Identity } from './identity.ts'

/** Certificate and private key of an existing CA, as PEM. */
export interface ExistingCa {
  readonly certificate: string
  readonly privateKey: Secret
}

/** Keys of a cluster that another tool created. */
export interface ExistingKeys {
  readonly kubernetes: ExistingCa
  readonly etcd: ExistingCa
  readonly frontProxy: ExistingCa
  /** Key that signs service account tokens. */
  readonly serviceAccountKey: Secret
  /** EncryptionConfiguration of the API servers; undefined if they do not encrypt. */
  readonly encryptionConfiguration: Secret | undefined
}

export interface ImportOptions {
  readonly name: string
  readonly from: AdoptionSource
  /** Names of the hosts in cluster.yml. */
  readonly hosts: readonly string[]
  readonly now: Date
  readonly random?: Random
}

/**
 * Builds the identity of an existing cluster from its own keys. Keys that the cluster does not have are
 * created, such as those of the operator.
 */
export async function importIdentity(
  keys: ExistingKeys,
  { name, from, hosts, now, random = systemRandom }: ImportOptions,
): Promise<Identity> {
  const created = await createIdentity(name, now, random)
  const { encryptionConfiguration } = keys
  return {
    ...created,
    cas: {
      kubernetes: { name: 'kubernetes', ...importCa('kubernetes', keys.kubernetes) },
      etcd: { name: 'etcd', ...importCa('etcd', keys.etcd) },
      frontProxy: { name: 'front-proxy', ...importCa('front-proxy', keys.frontProxy) },
    },
    serviceAccount: importServiceAccountKey(keys.serviceAccountKey),
    adoption: {
      from,
      observed: now.toISOString(),
      hosts: [...hosts],
      ...(encryptionConfiguration === undefined ? {} : { encryptionConfiguration }),
    },
  }
}

function importCa(name: CaName, { certificate, privateKey }: ExistingCa): ExistingCa {
  const key = parseKey(privateKey)
  const found = parseCertificates(certificate).find((one) => one.checkPrivateKey(key))
  if (found === undefined || !inspectCertificate(found.toString()).isCa) {
    throw new HyperkubeError(
      'ADOPT_KEY_MISMATCH',
      `the key of the ${name} CA does not belong to its certificate`,
      { hint: 'compare both files on the control planes: openssl x509 -noout -pubkey -in FILE' },
    )
  }
  const imported = new Secret(caKeyName(name), exportPrivateKey(key))
  // Fails for keys with which hyperkube cannot sign.
  loadSigningKey(imported)
  return { certificate: `${new X509Certificate(found.raw).toString().trim()}\n`, privateKey: imported }
}

function importServiceAccountKey(privateKey: Secret): Identity['serviceAccount'] {
  const key = parseKey(privateKey)
  return {
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: new Secret('service account key', exportPrivateKey(key)),
  }
}

/** Returns a private key as PKCS#8. Other tools also write PKCS#1 and SEC1. */
function exportPrivateKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Parses a key. The error has no cause, because the message of the parser could quote the key. */
function parseKey(privateKey: Secret): KeyObject {
  try {
    return createPrivateKey(privateKey.revealText())
  } catch {
    throw new HyperkubeError('ADOPT_KEY_NOT_READ', `${privateKey.name} is not a private key in PEM`, {
      hint: 'encrypted keys are not supported; check the file on the control planes: openssl pkey -noout -in FILE',
    })
  }
}
