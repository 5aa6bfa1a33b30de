import { expect, test } from 'vitest'
import { formatError } from '../../kit/errors.ts'
import { parseRke1State } from './rke1-state.ts'

const pair = (name: string) => ({ certificatePEM: `certificate of ${name}`, keyPEM: `key of ${name}`, name })
const bundle = {
  'kube-ca': pair('ca'),
  'kube-apiserver-requestheader-ca': pair('header'),
  'kube-service-account-token': pair('token'),
  'kube-admin': pair('admin'),
}
const file = {
  desiredState: { certificatesBundle: {} },
  currentState: {
    rkeConfig: {},
    certificatesBundle: bundle,
    encryptionConfig: 'kind: EncryptionConfiguration',
  },
}

test('the keys of a state file are read', () => {
  const keys = parseRke1State(JSON.stringify(file), 'cluster.rkestate')
  expect(keys.kubernetes.certificate).toBe('certificate of ca')
  expect(keys.etcd.privateKey.revealText()).toBe('key of ca')
  expect(keys.frontProxy.privateKey.revealText()).toBe('key of header')
  expect(keys.serviceAccountKey.revealText()).toBe('key of token')
  expect(keys.encryptionConfiguration?.revealText()).toBe('kind: EncryptionConfiguration')
})

test('an incomplete state file is refused without quoting it', () => {
  const { 'kube-ca': _, ...others } = bundle
  const incomplete = { currentState: { certificatesBundle: others } }
  for (const text of ['{', '{}', JSON.stringify(incomplete)]) {
    const failure = catchError(() => parseRke1State(text, 'cluster.rkestate'))
    expect(failure).toMatchObject({ code: 'ADOPT_FILE_NOT_READ' })
    expect(formatError(failure)).not.toContain('key of')
  }
})

function catchError(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
