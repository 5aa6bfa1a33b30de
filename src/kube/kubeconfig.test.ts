import { expect, test } from 'vitest'
import { parseKubeconfig } from './kubeconfig.ts'

const config = {
  'current-context': 'a@b',
  contexts: [{ name: 'a@b', context: { cluster: 'b', user: 'a' } }],
  clusters: [{ name: 'b', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority': 'ca.crt' } }],
  users: [{ name: 'a', user: { 'client-certificate': '/x/client.crt', 'client-key': 'client.key' } }],
}

test('relative file names are resolved against the directory of the kubeconfig', () => {
  expect(parseKubeconfig(JSON.stringify(config), '/etc/manager/kubeconfig')).toEqual({
    servers: ['https://127.0.0.1:6443'],
    ca: { file: '/etc/manager/ca.crt' },
    credentials: {
      certificate: { file: '/x/client.crt' },
      privateKey: { file: '/etc/manager/client.key' },
    },
  })
})

test('tls-server-name is read', () => {
  const cluster = { ...config.clusters[0]?.cluster, 'tls-server-name': 'kubernetes.default.svc' }
  const text = JSON.stringify({ ...config, clusters: [{ name: 'b', cluster }] })
  expect(parseKubeconfig(text, 'k').serverName).toBe('kubernetes.default.svc')
})

test('embedded certificates and keys are decoded', () => {
  const data = Buffer.from('PEM').toString('base64')
  const user = { 'client-certificate-data': data, 'client-key-data': data }
  const text = JSON.stringify({ ...config, users: [{ name: 'a', user }] })
  expect(parseKubeconfig(text, 'k').credentials).toEqual({ certificate: 'PEM', privateKey: 'PEM' })
})

test('a token is read, and a token file takes precedence over it', () => {
  const read = (user: object) =>
    parseKubeconfig(JSON.stringify({ ...config, users: [{ name: 'a', user }] }), '/etc/k').credentials
  expect(read({ token: 't' })).toEqual({ token: 't' })
  expect(read({ token: 't', tokenFile: 'token' })).toEqual({ token: { file: '/etc/token' } })
})

test.each<[string, string, string]>([
  ['that is not YAML', 'secret: [', 'it is not YAML'],
  ['without a current context', '{}', 'current-context'],
  [
    'without the named context',
    JSON.stringify({ ...config, contexts: [] }),
    'it has no cluster or user for context a@b',
  ],
  [
    'with a program that fetches credentials',
    JSON.stringify({ ...config, users: [{ name: 'a', user: { exec: { command: 'secret' } } }] }),
    'no client-certificate',
  ],
])('a kubeconfig %s is refused, without its content in the error', (_, text, why) => {
  const read = () => parseKubeconfig(text, '/k')
  expect(read).toThrow(expect.objectContaining({ code: 'KUBECONFIG_NOT_READ' }))
  expect(read).toThrow(why)
  expect(read).not.toThrow('secret')
})
