import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'

const host = (address: string, user = '', purpose = '') => [address, user, purpose]

test('the wizard prompts for all settings, shows cluster.yml and writes the replies to it', async () => {
  const replies = ['shop', '1.36.4', ...host('10.0.0.1'), ...host('10.0.0.2', 'ops'), '', false, true]
  const { code, stdout, files, prompts } = await runHyperkube('init', {}, { replies })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: '/home/me/.config/hyperkube/keys/shop.key\ncluster.identity\ncluster.yml\n',
  })
  expect(prompts.join('\n')).toMatchInlineSnapshot(`
    "New cluster. Ctrl-C cancels; files are written only at the end.
    Cluster name?
    Kubernetes version?
    Host 1: IP address or DNS name?
    SSH user on 10.0.0.1?
    Role of 10.0.0.1?
    Host 2: IP address or DNS name? Leave empty to finish.
    SSH user on 10.0.0.2?
    Role of 10.0.0.2?
    Host 3: IP address or DNS name? Leave empty to finish.
    Pod network 10.244.0.0/16, service network 10.96.0.0/16. Do your hosts already use these addresses?
    cluster.yml
    # A Kubernetes cluster that hyperkube manages. Commit this file.
    # Check this file:       hyperkube validate
    # Set up your editor:    hyperkube schema --help
    # List of all settings:  docs/reference/cluster.md in the hyperkube repository
    apiVersion: hyperkube.dev/v1
    kind: Cluster
    metadata:
      name: shop
    spec:
      kubernetes: 1.36.4
      hosts:
        - name: cp1
          address: 10.0.0.1
          roles:
            - control-plane
            - worker
          ssh:
            user: root
        - name: w1
          address: 10.0.0.2
          roles:
            - worker
          ssh:
            user: ops

    Write cluster.yml and create the cluster identity?
    Creating these files:"
  `)
  expect(prompts.join('\n')).toContain(files.get('cluster.yml'))
  expect((await runHyperkube('validate', Object.fromEntries(files))).code).toBe(0)
})

test('the wizard does not prompt for a name that --name sets', async () => {
  const { prompts } = await runHyperkube('init --name shop', {}, { replies: [] })
  expect(prompts.slice(1)).toEqual(['Kubernetes version?'])
})

test('the wizard refuses an invalid reply with the message of the schema', async () => {
  const replies = [
    ...['The Shop', 'shop', ''],
    ...['', '10.0.0.1/8', ...host('10.0.0.1', '', 'worker')],
    ...['', '10.0.0.1', ...host('10.0.0.2', '', 'control-plane'), ''],
  ]
  const { code, prompts } = await runHyperkube('init', {}, { replies })
  expect(code).toBe(130)
  expect(prompts.slice(1).filter((line) => !line.includes('?'))).toEqual([
    'The Shop: must be a DNS label: lower-case letters, digits and dashes',
    ': enter a host: the cluster needs at least one control plane',
    '10.0.0.1/8: must be an IP address or a host name',
    ': enter a host: the cluster needs at least one control plane',
    '10.0.0.1: this host is already in the list',
  ])
})

test('the wizard prompts for other networks until they do not overlap', async () => {
  const networks = ['10.0.0.0/8', '172.16.0.1/16', '172.16.0.0/16', '10.42.0.0/16', '']
  const replies = ['', '', ...host('10.0.0.1'), '', true, ...networks, true]
  const { code, files, prompts } = await runHyperkube('init', {}, { replies })
  expect(code).toBe(0)
  expect(files.get('cluster.yml')).toContain('    pods: 10.42.0.0/16\n    services: 172.16.0.0/16\n')
  expect(prompts).toContain('172.16.0.1/16: must be the first address of the network')
  expect(prompts.find((line) => line.startsWith('These networks overlap or are invalid'))).toContain(
    '10.0.0.1 is in spec.network.pods 10.0.0.0/8',
  )
})

test('the wizard prompts for networks at once if the defaults overlap with hosts', async () => {
  const replies = ['', '', ...host('10.244.0.1'), '', '192.168.0.0/16', '', true]
  const { code, files, prompts } = await runHyperkube('init', {}, { replies })
  expect(code).toBe(0)
  expect(prompts.join('\n')).not.toContain('Do your hosts already use')
  expect(files.get('cluster.yml')).toContain('    pods: 192.168.0.0/16\n    services: 10.96.0.0/16\n')
})

test('an interrupt at any prompt ends init with exit code 130, and no file is written', async () => {
  const replies = ['shop', '1.37.1', ...host('10.0.0.1'), '', false, true]
  for (let count = 0; count < replies.length; count++) {
    const ran = await runHyperkube('init', {}, { replies: replies.slice(0, count) })
    expect(ran).toMatchObject({ code: 130, stdout: '', files: new Map() })
  }
})

test('a declined confirmation writes no file', async () => {
  const replies = ['shop', '', ...host('10.0.0.1'), '', false, false]
  expect(await runHyperkube('init', {}, { replies })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: '',
    files: new Map(),
  })
})

test('a name whose key file exists ends the wizard after the first prompt', async () => {
  const files = { '/home/me/.config/hyperkube/keys/shop.key': 'mine' }
  const { code, prompts } = await runHyperkube('init', files, { replies: ['shop', 'never'] })
  expect({ code, last: prompts.at(-1) }).toEqual({ code: 1, last: 'Cluster name?' })
})
