import { stringify } from 'yaml'
import { Secret } from './secret.ts'

/** The cluster and the user of a kubeconfig. */
export interface KubeconfigAccess {
  readonly cluster: string
  /** https://HOST:PORT. */
  readonly server: string
  /** Name of the user entry in the file. The API takes the user name from the certificate. */
  readonly user: string
}

/** Paths as the program that reads the kubeconfig sees them. */
export interface CredentialFiles {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

export interface KubeconfigCredentials {
  /** PEM, as are the other two. */
  readonly ca: string
  readonly certificate: string
  readonly privateKey: Secret
}

/**
 * Kubeconfig of a component on a host, as a document. It names files, so it contains no secret and stays the
 * same when they are renewed.
 */
export function buildKubeconfig(access: KubeconfigAccess, files: CredentialFiles): object {
  return buildDocument(
    access,
    { 'certificate-authority': files.ca },
    { 'client-certificate': files.certificate, 'client-key': files.privateKey },
  )
}

/** One of several API endpoints of the same cluster. */
export interface KubeconfigEndpoint {
  readonly name: string
  /** https://HOST:PORT. */
  readonly server: string
}

/**
 * Kubeconfig of a person for a cluster with several endpoints: one context for each, the first one current.
 * If an endpoint is unreachable, `kubectl config use-context` selects another.
 */
export function buildPersonalKubeconfig(
  user: string,
  endpoints: readonly KubeconfigEndpoint[],
  { ca, certificate, privateKey }: KubeconfigCredentials,
): Secret {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: endpoints.map(({ name, server }) => ({
      name,
      cluster: { server, 'certificate-authority-data': base64(ca) },
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
    contexts: endpoints.map(({ name }) => ({ name, context: { cluster: name, user } })),
    'current-context': endpoints[0]?.name ?? '',
  }
  return new Secret(`kubeconfig of ${user}`, stringify(config, { lineWidth: 0 }))
}

/** Kubeconfig of a person as one file with embedded credentials, and therefore a secret. */
export function buildEmbeddedKubeconfig(
  access: KubeconfigAccess,
  credentials: KubeconfigCredentials,
): Secret {
  const config = buildDocument(
    access,
    { 'certificate-authority-data': base64(credentials.ca) },
    {
      'client-certificate-data': base64(credentials.certificate),
      'client-key-data': base64(credentials.privateKey.reveal()),
    },
  )
  return new Secret(`kubeconfig of ${access.user}`, stringify(config, { lineWidth: 0 }))
}

type Fields = Readonly<Record<string, string>>

function buildDocument({ cluster, server, user }: KubeconfigAccess, ca: Fields, credentials: Fields): object {
  const context = `${user}@${cluster}`
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server, ...ca } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: context, context: { cluster, user } }],
    'current-context': context,
  }
}

function base64(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
