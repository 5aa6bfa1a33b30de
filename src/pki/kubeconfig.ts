import { stringify } from 'yaml'
import { apiServerTlsName } from '../contract/api-server-name.ts'
import { Secret } from './secret.ts'

/** Names and URL that a kubeconfig contains. */
export interface KubeconfigAccess {
  readonly cluster: string
  /** URL of the API server: https://HOST:PORT. */
  readonly server: string
  /**
   * Name of the user entry in the kubeconfig. The API server takes the real user name from the certificate.
   */
  readonly user: string
}

/** Paths of the credential files on the host of the program that reads the kubeconfig. */
export interface CredentialFiles {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

export interface KubeconfigCredentials {
  /** CA certificates as PEM. The other two fields are PEM too. */
  readonly ca: string
  readonly certificate: string
  readonly privateKey: Secret
}

/**
 * Builds the kubeconfig of a component on a host. It refers to credential files, so it contains no secrets
 * and stays unchanged when certificates are renewed.
 */
export function buildKubeconfig(access: KubeconfigAccess, files: CredentialFiles): object {
  return buildDocument(
    access,
    { 'certificate-authority': files.ca },
    { 'client-certificate': files.certificate, 'client-key': files.privateKey },
  )
}

/** One of several API server endpoints of a cluster. */
export interface KubeconfigEndpoint {
  readonly name: string
  /** URL of the endpoint: https://HOST:PORT. */
  readonly server: string
}

/**
 * Builds the kubeconfig of a person for a cluster with several endpoints. It has one context per endpoint, so
 * `kubectl config use-context` can switch to another endpoint.
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
      cluster: { server, 'tls-server-name': apiServerTlsName, 'certificate-authority-data': base64(ca) },
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

/** Builds the kubeconfig of a person as one file. It contains the credentials, so it is a secret. */
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
    clusters: [{ name: cluster, cluster: { server, 'tls-server-name': apiServerTlsName, ...ca } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: context, context: { cluster, user } }],
    'current-context': context,
  }
}

function base64(content: string | Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
