import { readFile } from 'node:fs/promises'
import { type Pem, ReloadingCredentials, type TlsCredentials, type TlsIdentity } from '../kit/credentials.ts'
import { HyperkubeError } from '../kit/errors.ts'

/** A bearer token, for example of a service account. A file is read again for every request. */
export interface TokenCredentials {
  readonly token: Pem
}

/** How a client authenticates: with a client certificate or with a bearer token. */
export type KubeCredentials = Omit<TlsCredentials, 'ca'> | TokenCredentials

/** The trusted CA with a client certificate or a token, as one request needs them. */
export type RequestCredentials = Pick<TlsIdentity, 'ca'> & Partial<TlsIdentity> & { readonly token?: string }

/** Returns the credentials for the next request. Kubernetes replaces tokens and certificates at any time. */
export interface CredentialsSource {
  current(): Promise<RequestCredentials>
}

export function createCredentialsSource(ca: Pem, credentials: KubeCredentials): CredentialsSource {
  if (!('token' in credentials)) return new ReloadingCredentials({ ca, ...credentials })
  const { token } = credentials
  return {
    current: async () => ({ ca: await readText(ca), token: (await readText(token)).trim() }),
  }
}

async function readText(source: Pem): Promise<string> {
  if (typeof source === 'string') return source
  return readFile(source.file, 'utf8').catch((cause: unknown) => {
    throw new HyperkubeError('CREDENTIALS_NOT_READ', `cannot read ${source.file}`, {
      hint: `check the file: ls -l ${source.file}`,
      cause,
    })
  })
}
