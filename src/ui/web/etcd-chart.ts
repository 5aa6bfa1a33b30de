import { h, type ComponentChild } from 'preact'
import type { EtcdView, ViewResult } from '../views.ts'
import { formatTime } from './parts.ts'

const [width, height] = [1000, 120]

/** Draws how much of its database each member has used since the page was opened. Needs two results. */
export function renderEtcdChart(results: readonly ViewResult<EtcdView>[]): ComponentChild {
  const samples = results.flatMap((one) =>
    one.state === 'read' ? [{ at: Date.parse(one.at), members: one.document.members }] : [],
  )
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || first.at === last.at) return null
  const most = Math.max(1, ...samples.flatMap(({ members }) => members.map(({ sizeInUse = 0 }) => sizeInUse)))
  const scaleTime = (at: number): number => ((at - first.at) / (last.at - first.at)) * width
  const scaleSize = (size: number): number => height - (size / most) * (height - 4)
  const lines = last.members.map(({ name }, index) => {
    const points = samples.flatMap(({ at, members }) => {
      const size = members.find((one) => one.name === name)?.sizeInUse
      return size === undefined ? [] : [`${scaleTime(at).toFixed(1)},${scaleSize(size).toFixed(1)}`]
    })
    return h(
      'polyline',
      { key: name, class: `line${index % 3}`, points: points.join(' ') },
      h('title', null, name),
    )
  })
  const text = `Database in use since ${formatTime(new Date(first.at).toISOString())}, at most ${(most / 1_000_000).toFixed(1)} MB`
  return h(
    'figure',
    { class: 'chart' },
    h('figcaption', null, `${text}: ${last.members.map(({ name }) => name).join(', ')}`),
    h(
      'svg',
      { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': text },
      lines,
    ),
  )
}
