import { z } from 'zod'
import type { Remote } from '../../ssh/remote.ts'
import { readAdmission } from './admission-file.ts'
import { type AdoptedHost, type EncryptionRule, findComponent } from './observation.ts'
import { parseYaml, toHostPath } from './read-components.ts'
import { readRemoteFile } from './remote-file.ts'

/** Reads the files that flags of the API server of a host name. Keys stay on the host or are dropped. */
export async function readServerFiles(
  remote: Remote,
  host: Pick<AdoptedHost, 'components'>,
  signal: AbortSignal,
): Promise<Pick<AdoptedHost, 'encryption' | 'admission'>> {
  const server = findComponent(host, 'kube-apiserver')
  if (server === undefined) return {}
  const { 'encryption-provider-config': encryption, 'admission-control-config-file': admission } = server.args
  const readFile = async (path: string): Promise<string> =>
    readRemoteFile(remote, toHostPath(server, path), signal)
  const settings = admission === undefined ? undefined : await readAdmission(admission, readFile)
  return {
    ...(encryption === undefined ? {} : { encryption: parseEncryption(await readFile(encryption)) }),
    ...(settings === undefined ? {} : { admission: settings }),
  }
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
