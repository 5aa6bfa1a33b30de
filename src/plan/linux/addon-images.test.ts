import { expect, test } from 'vitest'
import { buildCheckedInput } from '../checks/testing/fixtures.ts'
import { planCluster } from '../plan.ts'

const digest = `sha256:${'a'.repeat(64)}`
const coredns = `registry.k8s.io/coredns/coredns:v1.15.0@${digest}`

function imagesOf(images: readonly string[] | undefined, pause: string, host = 'w1') {
  const input = buildCheckedInput({})
  const lock = { ...input.lock, images: { ...input.lock.images, pause, coredns } }
  const { plans } = planCluster({ ...input, lock, ...(images && { images }) })
  return plans
    .find((plan) => plan.host === host)
    ?.components.flatMap(({ name, stage, images: own, files }) => {
      const sandbox = files.flatMap(({ content }) =>
        content.kind === 'text' ? (/sandbox = "(.*)"/.exec(content.text)?.[1] ?? []) : [],
      )
      return own.length === 0 ? [] : [{ name, stage, images: own, sandbox }]
    })
}

test('a node pulls the pause image by digest, and containerd refers to it by tag', () => {
  expect(imagesOf(undefined, `registry.k8s.io/pause:3.10.2@${digest}`)).toEqual([
    {
      name: 'containerd',
      stage: 'node',
      images: [`registry.k8s.io/pause:3.10.2@${digest}`],
      sandbox: ['registry.k8s.io/pause:3.10.2'],
    },
  ])
})

test('addon images are pulled once, in the last component', () => {
  expect(imagesOf([coredns, coredns], 'registry.k8s.io/pause:3.10.2')?.at(-1)).toEqual({
    name: 'images',
    stage: 'network',
    images: [coredns],
    sandbox: [],
  })
})

test('a Windows node gets no Linux addon images', () => {
  const all = imagesOf([coredns], 'registry.k8s.io/pause:3.10.2', 'win1')
  expect(all?.map(({ name }) => name)).toEqual(['containerd'])
})
