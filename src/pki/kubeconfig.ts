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

/** A place where the same cluster answers. */
export interface Entrance {
  readonly name: string
  /** https://HOST:PORT. */
  readonly server: string
}

/**
 * For a person, for a cluster with several entrances: a context for each, the first of them current. With one away,
 * `kubectl config use-context` goes to another.
 */
export function personalKubeconfig(
  user: string,
  entrances: readonly Entrance[],
  { authority, certificate, privateKey }: Credentials,
): Secret {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: entrances.map(({ name, server }) => ({
      name,
      cluster: { server, 'certificate-authority-data': base64(authority) },
    })),
    users: [
      {
        name: user,
        user: {
          'client-certificate-data': base64(certificate),
          'client-key-data': base64(privateKey.reveal()),
        },
      },
    ],
    contexts: entrances.map(({ name }) => ({ name, context: { cluster: name, user } })),
    'current-context': entrances[0]?.name ?? '',
  }
  return new Secret(`kubeconfig of ${user}`, stringify(config, { lineWidth: 0 }))
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
