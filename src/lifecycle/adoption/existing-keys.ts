import type { ExistingCa, ExistingKeys } from '../../identity/import-identity.ts'
import type { AdoptionSource } from '../../identity/identity.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { caKeyName } from '../../pki/ca.ts'
import { parseCertificates } from '../../pki/certificates.ts'
import { Secret } from '../../pki/secret.ts'
import type { Remote } from '../../ssh/remote.ts'
import { type AdoptedHost, findComponent } from './observation.ts'
import { toHostPath } from './read-components.ts'
import { readRemoteFile } from './remote-file.ts'

/** Paths of certificate and key of a CA on a control plane. */
interface CaPaths {
  readonly certificate: string
  readonly privateKey: string
}

interface KeyPaths {
  readonly kubernetes: CaPaths
  readonly etcd: CaPaths
  readonly frontProxy: CaPaths
}

const kubeadmDirectory = '/etc/kubernetes/pki'
const rke1Directory = '/etc/kubernetes/ssl'

function buildKubeadmPaths(name: string): CaPaths {
  return { certificate: `${kubeadmDirectory}/${name}.crt`, privateKey: `${kubeadmDirectory}/${name}.key` }
}

function buildRke1Paths(name: string): CaPaths {
  return { certificate: `${rke1Directory}/${name}.pem`, privateKey: `${rke1Directory}/${name}-key.pem` }
}

/** Paths of the CAs. etcd of RKE1 has no CA of its own. */
export const caPaths: Readonly<Record<AdoptionSource, KeyPaths>> = {
  kubeadm: {
    kubernetes: buildKubeadmPaths('ca'),
    etcd: buildKubeadmPaths('etcd/ca'),
    frontProxy: buildKubeadmPaths('front-proxy-ca'),
  },
  rke1: {
    kubernetes: buildRke1Paths('kube-ca'),
    etcd: buildRke1Paths('kube-ca'),
    frontProxy: buildRke1Paths('kube-apiserver-requestheader-ca'),
  },
}

/** Reads the private keys of a cluster from one of its control planes. They stay in memory. */
export async function readExistingKeys(
  remote: Remote,
  host: AdoptedHost,
  from: AdoptionSource,
  signal: AbortSignal,
): Promise<ExistingKeys> {
  const server = findComponent(host, 'kube-apiserver')
  const signingKey = server?.args['service-account-signing-key-file']
  if (server === undefined || signingKey === undefined) {
    throw new HyperkubeError('ADOPT_KEY_NOT_READ', 'the API server has no key for service account tokens', {
      host: host.address,
      hint: 'check the flag --service-account-signing-key-file of kube-apiserver',
    })
  }
  const read = async (path: string): Promise<string> => readRemoteFile(remote, path, signal)
  const readCa = async (name: Parameters<typeof caKeyName>[0], paths: CaPaths): Promise<ExistingCa> => ({
    certificate: await read(paths.certificate),
    privateKey: new Secret(caKeyName(name), await read(paths.privateKey)),
  })
  const paths = caPaths[from]
  const encryption = server.args['encryption-provider-config']
  return {
    kubernetes: await readCa('kubernetes', paths.kubernetes),
    etcd: await readCa('etcd', paths.etcd),
    frontProxy: await readCa('front-proxy', paths.frontProxy),
    serviceAccountKey: new Secret('service account key', await read(toHostPath(server, signingKey))),
    encryptionConfiguration:
      encryption === undefined
        ? undefined
        : new Secret('encryption configuration', await read(toHostPath(server, encryption))),
  }
}

/** Returns the fingerprint of the first certificate in a PEM text; empty if there is none. */
export function readFingerprint(pem: string): string {
  return parseCertificates(pem)[0]?.fingerprint256 ?? ''
}
