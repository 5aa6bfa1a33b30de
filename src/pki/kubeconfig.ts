import { stringify } from 'yaml'
import { Secret } from './secret.ts'

/** Whom a kubeconfig makes its reader, and where. */
export interface Access {
  readonly cluster: string
  /** https://HOST:PORT. */
  readonly server: string
  /** What the reader calls itself in the file; who it is to the API its certificate says. */
  readonly user: string
}

/** Paths, as the program that reads the kubeconfig sees them. */
export interface CredentialFiles {
  readonly authority: string
  readonly certificate: string
  readonly privateKey: string
}

export interface Credentials {
  /** PEM, as all three. */
  readonly authority: string
  readonly certificate: string
  readonly privateKey: Secret
}

/**
 * For a component on a host, as a document: it names files, holds no secret, and stays the same when they are renewed.
 */
export function kubeconfig(access: Access, files: CredentialFiles): object {
  return document(
    access,
    { 'certificate-authority': files.authority },
    { 'client-certificate': files.certificate, 'client-key': files.privateKey },
  )
}

/** For a person: one file with all in it, and therefore a secret. */
export function embeddedKubeconfig(access: Access, credentials: Credentials): Secret {
  const config = document(
    access,
    { 'certificate-authority-data': base64(credentials.authority) },
    {
      'client-certificate-data': base64(credentials.certificate),
      'client-key-data': base64(credentials.privateKey.reveal()),
    },
  )
  return new Secret(`kubeconfig of ${access.user}`, stringify(config, { lineWidth: 0 }))
}

type Fields = Readonly<Record<string, string>>

function document({ cluster, server, user }: Access, authority: Fields, credentials: Fields): object {
  const context = `${user}@${cluster}`
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server, ...authority } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: context, context: { cluster, user } }],
    'current-context': context,
  }
}

function base64(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
