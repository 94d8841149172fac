// breaks: x server
package jobs

import _ "github.com/jezek/xgb"
