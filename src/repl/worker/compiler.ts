/** The second compiler, for decorators and JSX: a script of its own, because it is large and few cells need it. */
import * as core from '@babel/core'
import * as decorators from '@babel/plugin-proposal-decorators'
import * as jsx from '@babel/plugin-transform-react-jsx'

export const packages: Readonly<Record<string, unknown>> = {
  '@babel/core': core,
  '@babel/plugin-proposal-decorators': decorators,
  '@babel/plugin-transform-react-jsx': jsx,
}
