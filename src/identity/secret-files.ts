import { stringify } from 'yaml'
import { type ProxyLogin, proxyLoginFile } from '../contract/download-settings.ts'
import { registryApiHost } from '../contract/image-reference.ts'
import { addProxyLogin } from '../kit/http-route.ts'
import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'
import { encryptionKeys, type NamedKey } from './trusted-keys.ts'

/** Login to an image registry. `password` is the name of a secret, not the password itself. */
export interface RegistryLogin {
  readonly host: string
  readonly username: string
  readonly password: string
}

/** HTTP proxy with a login. `password` is the name of a secret, not the password itself. */
export interface ProxyWithLogin {
  readonly http?: string | undefined
  readonly https?: string | undefined
  readonly username: string
  readonly password: string
}

/** Logins of cluster.yml whose passwords are in the identity. */
export interface NetworkLogins {
  readonly registries: readonly RegistryLogin[]
  readonly proxy?: ProxyWithLogin | undefined
}

/** Name of the file with the proxy variables of containerd, if the proxy demands a login. */
export const proxyEnvironmentName = 'proxy-environment'

/** Name of the file with the keys that encrypt data in etcd. */
export const encryptionFile = 'encryption-configuration'

/**
 * Returns the content of all secret files of a cluster. The key is the name by which plans refer to the file.
 * Logins whose password is not in the identity are skipped.
 */
export function secretFiles(
  identity: Identity,
  logins: NetworkLogins = { registries: [] },
): ReadonlyMap<string, Secret> {
  const { cas, serviceAccount } = identity
  const fixed: Readonly<Record<string, Secret>> = {
    'service-account-key': serviceAccount.privateKey,
    'kubernetes-ca-key': cas.kubernetes.privateKey,
    'etcd-ca-key': cas.etcd.privateKey,
    'front-proxy-ca-key': cas.frontProxy.privateKey,
    [encryptionFile]: selectEncryptionConfiguration(identity),
  }
  const registries = logins.registries.flatMap(({ host, username, password }) => {
    const secret = findSecret(identity, password)
    return secret === undefined
      ? []
      : [[registryLoginName(host), registryLogin(host, username, secret)] as const]
  })
  return new Map([...Object.entries(fixed), ...registries, ...buildProxyFiles(identity, logins.proxy)])
}

/** Returns a secret that an operator stored; undefined if the identity does not have it. */
export function findSecret({ secrets }: Identity, name: string): Secret | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined
}

/** Builds the files with the login of the proxy: one for containerd and one for the agent. */
function buildProxyFiles(identity: Identity, proxy: ProxyWithLogin | undefined): [string, Secret][] {
  const password = proxy === undefined ? undefined : findSecret(identity, proxy.password)
  if (proxy === undefined || password === undefined) return []
  const login: ProxyLogin = { username: proxy.username, password: password.revealText() }
  const withLogin = (url: string | undefined) => (url === undefined ? undefined : addProxyLogin(url, login))
  const environment = renderProxyEnvironment({ http: withLogin(proxy.http), https: withLogin(proxy.https) })
  return [
    [proxyEnvironmentName, new Secret('proxy variables', environment)],
    [proxyLoginFile, new Secret('proxy login', JSON.stringify(login))],
  ]
}

/** Renders the environment file of containerd with the addresses of the proxy. */
export function renderProxyEnvironment({
  http,
  https,
}: {
  readonly http?: string | undefined
  readonly https?: string | undefined
}): string {
  const format = (name: string, url: string | undefined) => (url === undefined ? '' : `${name}=${url}\n`)
  return format('HTTP_PROXY', http) + format('HTTPS_PROXY', https)
}

export function registryLoginName(host: string): string {
  return `registry-login/${host}`
}

/**
 * Selects the configuration with which the API server encrypts data. An adopted cluster keeps its own one. If it
 * has none, nothing is encrypted while the previous API servers may have to read the data again.
 */
function selectEncryptionConfiguration(identity: Identity): Secret {
  const { adoption } = identity
  if (adoption?.encryptionConfiguration !== undefined) return adoption.encryptionConfiguration
  const encrypts = adoption === undefined || adoption.committed !== undefined
  return buildEncryptionConfiguration(encryptionKeys(identity), encrypts)
}

/**
 * Builds the configuration with which the API server encrypts Secrets and ConfigMaps. The first provider writes;
 * all can read. The provider `identity` does not encrypt. Hosts of earlier releases have this format too, and
 * `listEncryptionTags` recognizes their keys by it.
 */
export function buildEncryptionConfiguration(keys: readonly NamedKey[], encrypts: boolean): Secret {
  const secretbox = {
    secretbox: {
      keys: keys.map(({ name, key }) => ({ name, secret: Buffer.from(key.reveal()).toString('base64') })),
    },
  }
  const providers = encrypts ? [secretbox, { identity: {} }] : [{ identity: {} }, secretbox]
  const document = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets', 'configmaps'], providers }],
  }
  return new Secret('encryption configuration', stringify(document))
}

/**
 * Builds a part of containerd's configuration with a registry login. Values are written as JSON strings,
 * which are also valid TOML strings.
 */
function registryLogin(host: string, username: string, password: Secret): Secret {
  const server = JSON.stringify(registryApiHost(host))
  const table = `plugins.'io.containerd.cri.v1.images'.registry.configs.${server}.auth`
  const lines = [
    'version = 3',
    '',
    `[${table}]`,
    `  username = ${JSON.stringify(username)}`,
    `  password = ${JSON.stringify(password.revealText())}`,
    '',
  ]
  return new Secret(`login of ${host}`, lines.join('\n'))
}

/**
 * Returns all secrets of an identity in the forms in which they may appear in output: single lines of the
 * text, and base64.
 */
export function knownSecrets(identity: Identity): string[] {
  return secretsIn(identity).flatMap((secret) => {
    const lines = secret.revealText().split(/\r?\n/)
    return [
      // Header and footer lines of PEM are not secret.
      ...lines.map((line) => line.trim()).filter((line) => !line.startsWith('-----')),
      Buffer.from(secret.reveal()).toString('base64'),
    ]
  })
}

/** Collects all secrets in a value. The search is recursive, so new fields with secrets are found too. */
function secretsIn(value: unknown): Secret[] {
  if (value instanceof Secret) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}
