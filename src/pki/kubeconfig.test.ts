import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { buildEmbeddedKubeconfig, buildKubeconfig } from './kubeconfig.ts'
import { Secret } from './secret.ts'

const access = { cluster: 'shop', server: 'https://10.0.0.1:6443', user: 'kubelet' }

test('a kubeconfig with file paths contains no secret', () => {
  const files = { ca: '/pki/ca.crt', certificate: '/pki/kubelet.crt', privateKey: '/pki/kubelet.key' }
  expect(stringify(buildKubeconfig(access, files))).toMatchInlineSnapshot(`
    "apiVersion: v1
    kind: Config
    clusters:
      - name: shop
        cluster:
          server: https://10.0.0.1:6443
          tls-server-name: kubernetes.default.svc
          certificate-authority: /pki/ca.crt
    users:
      - name: kubelet
        user:
          client-certificate: /pki/kubelet.crt
          client-key: /pki/kubelet.key
    contexts:
      - name: kubelet@shop
        context:
          cluster: shop
          user: kubelet
    current-context: kubelet@shop
    "
  `)
})

test('a kubeconfig with embedded keys is a Secret', () => {
  const pem = `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(500)}\n`
  const config = buildEmbeddedKubeconfig(
    { ...access, user: 'admin' },
    { ca: 'ca', certificate: 'mine', privateKey: new Secret('admin key', pem) },
  )
  expect(String(config)).toMatch(/^\[secret kubeconfig of admin sha256:[0-9a-f]{4}…\]$/)
  expect(parse(config.revealText())).toMatchObject({
    clusters: [{ cluster: { 'certificate-authority-data': 'Y2E=' } }],
    users: [{ user: { 'client-key-data': Buffer.from(pem).toString('base64') } }],
  })
})

test('names and paths with a special meaning in YAML are kept', () => {
  const files = { ca: 'C:\\pki\\ca.crt', certificate: '# no', privateKey: 'yes: "it" is' }
  expect(parse(stringify(buildKubeconfig({ ...access, cluster: 'on' }, files)))).toMatchObject({
    clusters: [{ name: 'on', cluster: { 'certificate-authority': 'C:\\pki\\ca.crt' } }],
    users: [{ user: { 'client-certificate': '# no', 'client-key': 'yes: "it" is' } }],
  })
})
