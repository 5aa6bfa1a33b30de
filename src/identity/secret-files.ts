import { stringify } from 'yaml'
import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'
import { encryptionKeys, type NamedKey } from './trusted-keys.ts'

/** Login to an image registry. The password is the name of a secret. */
export interface RegistryLogin {
  readonly host: string
  readonly username: string
  readonly password: string
}

/**
 * Contents of every file of a cluster that is secret as a whole, by the name under which a plan refers to it.
 * Skips logins whose password is not in the identity.
 */
export function secretFiles(
  identity: Identity,
  logins: readonly RegistryLogin[],
): ReadonlyMap<string, Secret> {
  const { cas, serviceAccount } = identity
  const fixed: Readonly<Record<string, Secret>> = {
    'service-account-key': serviceAccount.privateKey,
    'kubernetes-ca-key': cas.kubernetes.privateKey,
    'etcd-ca-key': cas.etcd.privateKey,
    'front-proxy-ca-key': cas.frontProxy.privateKey,
    'encryption-configuration': encryptionConfiguration(encryptionKeys(identity)),
  }
  const registries = logins.flatMap(({ host, username, password }) => {
    const secret = Object.hasOwn(identity.secrets, password) ? identity.secrets[password] : undefined
    return secret === undefined
      ? []
      : [[registryLoginName(host), registryLogin(host, username, secret)] as const]
  })
  return new Map([...Object.entries(fixed), ...registries])
}

export function registryLoginName(host: string): string {
  return `registry-login/${host}`
}

/**
 * Encrypts Secrets and ConfigMaps from the start. The identity provider still reads data written unencrypted.
 */
function encryptionConfiguration(keys: readonly NamedKey[]): Secret {
  const document = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets', 'configmaps'],
        providers: [
          {
            secretbox: {
              keys: keys.map(({ name, key }) => ({
                name,
                secret: Buffer.from(key.reveal()).toString('base64'),
              })),
            },
          },
          { identity: {} },
        ],
      },
    ],
  }
  return new Secret('encryption configuration', stringify(document))
}

/** A fragment of containerd's configuration. JSON strings are valid TOML strings. */
function registryLogin(host: string, username: string, password: Secret): Secret {
  const table = `plugins.'io.containerd.cri.v1.images'.registry.configs.${JSON.stringify(host)}.auth`
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
