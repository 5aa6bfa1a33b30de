import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const clusterFile = buildClusterFile('{ name: cp1, address: 192.168.1.11, roles: [control-plane] }')

test('cluster.yml is also found in a parent directory, nearest first', async () => {
  const environment = { workingDirectory: '/home/me/shop/manifests/web' }
  const files = { '../../cluster.yml': clusterFile, '../../../cluster.yml': 'nonsense' }
  const { code, stdout } = await runHyperkube('validate', files, { environment })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\.\.\/\.\.\/cluster\.yml: shop is valid/),
  })
})

test('the search ends at the root directory', async () => {
  const environment = { workingDirectory: '/home/me' }
  const { code, stderr } = await runHyperkube('validate', { '../../../cluster.yml': 'x' }, { environment })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('cluster.yml does not exist'),
  })
})

test('init never writes to a parent directory', async () => {
  const environment = { workingDirectory: '/home/me/shop' }
  const words = 'init --name new --host 10.0.0.1=control-plane'
  const { code, files } = await runHyperkube(words, { '../cluster.yml': clusterFile }, { environment })
  expect(code).toBe(0)
  expect(files.get('../cluster.yml')).toBe(clusterFile)
  expect(files.get('cluster.yml')).toContain('name: new')
})

test('HYPERKUBE_FILE names the file, and --file takes precedence', async () => {
  const environment = { file: 'a.yml' }
  const files = { 'a.yml': clusterFile, 'b.yml': clusterFile.replace('shop', 'other') }
  expect((await runHyperkube('validate', files, { environment })).stdout).toContain('a.yml: shop')
  expect((await runHyperkube('validate -f b.yml', files, { environment })).stdout).toContain('b.yml: other')
})

test('HYPERKUBE_KEY_FILE names the key of the identity', async () => {
  const environment = { key: 'my.key' }
  const { code, files } = await runHyperkube(
    'init --name shop --host 10.0.0.1=control-plane',
    {},
    { environment },
  )
  expect(code).toBe(0)
  expect(files.has('my.key')).toBe(true)
  const list = await runHyperkube('secret list', Object.fromEntries(files), { environment })
  expect(list.code).toBe(0)
  expect((await runHyperkube('secret list', Object.fromEntries(files))).code).toBe(1)
})

test.each(['version -f x', 'schema --key x', 'version --yes', 'proxy -o json'])(
  '%s: a flag without effect is refused',
  async (words) => {
    expect((await runHyperkube(words)).code).toBe(2)
  },
)
