
  # Blanks and tabs wherever an editor lets one type them. 
	
if true; then
	echo "$1" \
	  "two" 	
fi


