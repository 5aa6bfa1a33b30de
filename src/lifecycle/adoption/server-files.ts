import { z } from 'zod'
import type { Remote } from '../../ssh/remote.ts'
import { readAdmission } from './admission-file.ts'
import { type AdoptedHost, type EncryptionRule, findComponent } from './observation.ts'
import { parseYaml, toHostPath } from './read-components.ts'
import { readRemoteFile, readTimeoutMs } from './remote-file.ts'

/** Reads the files that flags of the API server of a host name. Keys stay on the host or are dropped. */
export async function readServerFiles(
  remote: Remote,
  host: Pick<AdoptedHost, 'components'>,
  signal: AbortSignal,
): Promise<Pick<AdoptedHost, 'encryption' | 'admission' | 'keyDigests'>> {
  const server = findComponent(host, 'kube-apiserver')
  if (server === undefined) return {}
  const {
    'encryption-provider-config': encryption,
    'admission-control-config-file': admission,
    'service-account-signing-key-file': serviceAccount,
  } = server.args
  const readFile = async (path: string): Promise<string> =>
    readRemoteFile(remote, toHostPath(server, path), signal)
  const digest = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : computeDigest(remote, toHostPath(server, path), signal)
  const digests = { serviceAccount: await digest(serviceAccount), encryption: await digest(encryption) }
  const settings = admission === undefined ? undefined : await readAdmission(admission, readFile)
  return {
    ...(encryption === undefined ? {} : { encryption: parseEncryption(await readFile(encryption)) }),
    ...(settings === undefined ? {} : { admission: settings }),
    keyDigests: {
      ...(digests.serviceAccount === undefined ? {} : { serviceAccount: digests.serviceAccount }),
      ...(digests.encryption === undefined ? {} : { encryption: digests.encryption }),
    },
  }
}

/** Computes the SHA-256 of a file on its host, so that keys stay there. Undefined if the file cannot be read. */
async function computeDigest(remote: Remote, path: string, signal: AbortSignal): Promise<string | undefined> {
  const options = { signal, root: true, timeout: readTimeoutMs }
  const { stdout } = await remote.exec(['sha256sum', '--', path], options)
  return /^\\?([0-9a-f]{64}) /.exec(stdout)?.[1]
}

const encryptionDocument = z.looseObject({
  resources: z.array(
    z.looseObject({
      resources: z.array(z.string()),
      providers: z.array(z.record(z.string(), z.unknown())),
    }),
  ),
})

/** Reads which resources are encrypted by which providers. Keys are dropped. */
export function parseEncryption(text: string): EncryptionRule[] {
  const { resources = [] } = encryptionDocument.safeParse(parseYaml(text)).data ?? {}
  return resources.map((rule) => ({
    resources: rule.resources,
    providers: rule.providers.flatMap((provider) => Object.keys(provider)),
  }))
}
